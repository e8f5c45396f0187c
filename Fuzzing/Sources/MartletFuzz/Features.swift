import Martlet

/// The features of the library that an app may combine with calls and sign-ins. A useful fuzzer reaches each feature in
/// many schedules.
enum Feature: Int, CaseIterable {
    case signed, recovered, refresherCalls, ignoredCancellation, guests, cookies, kept, users, plain, emptied, slots
    case savedTokens, hangs, outages, downloads, resumed, accounts, former, repeated, unrefreshed

    var text: String {
        switch self {
        case .signed: "requests of other clients"
        case .recovered: "recovered by such clients"
        case .refresherCalls: "refreshers that make calls"
        case .ignoredCancellation: "cancellations ignored"
        case .guests: "guests registered"
        case .cookies: "cookies of a user"
        case .kept: "responses kept or joined"
        case .users: "two users of a client"
        case .plain: "clients without a manager"
        case .emptied: "clients emptied"
        case .slots: "slots, hooks, short tokens"
        case .savedTokens: "only saved tokens"
        case .hangs: "silent token endpoints"
        case .outages: "outages of the network"
        case .downloads: "downloads"
        case .resumed: "downloads resumed"
        case .accounts: "several accounts"
        case .former: "former tokens taken over"
        case .repeated: "requests repeated by clients"
        case .unrefreshed: "calls without a refresh"
        }
    }

    /// The features that a schedule has reached.
    static func reached(in world: World) -> Set<Feature> {
        var reader = Reader()
        for entry in world.history.entries { reader.read(entry.what, at: entry.at) }
        let script = world.script
        if script.slots != nil, script.interceptor != .none, script.lifetime ?? 3600 <= 60 {
            reader.reached.insert(.slots)
        }
        if script.requiresSavedTokens, reader.hasRefreshed { reader.reached.insert(.savedTokens) }
        if reader.contents > reader.successes { reader.reached.insert(.kept) }
        if reader.users.values.contains(where: { $0.count > 1 }) { reader.reached.insert(.users) }
        return reader.reached
    }

    /// Reads the history of a schedule.
    private struct Reader {
        var reached: Set<Feature> = []
        var hasRefreshed = false
        var contents = 0
        /// The number of requests for shared resources that succeeded.
        var successes = 0
        var users: [Life: Set<Int>] = [:]
        private var signedCalls: [Int: Int] = [:]
        /// The time at which the client stopped waiting for the response to a refresh.
        private var abandoned: [Int: Duration] = [:]
        private var adoptions: Set<Int> = []
        private var repeated: [Int: Int] = [:]
        private var unrefreshed: Set<Int> = []

        init() {}

        mutating func read(_ occurrence: Occurrence, at time: Duration) {
            switch occurrence {
            case .asks(_, _, _, .account, _): reached.insert(.accounts)
            case .asks(_, let call, let caller, let kind, _): read(kind, call, isAutomatic: caller == 0)
            case .request(let exchange): read(exchange)
            case .returns(_, let call, .signedIn) where adoptions.contains(call): reached.insert(.former)
            case .returns(_, _, .content): contents += 1
            case .returns(_, _, .film(_, _, let resumed)):
                reached.insert(.downloads)
                if resumed > 0 { reached.insert(.resumed) }
            case .commits: hasRefreshed = true
            case .abandons(let send): abandoned[send] = time
            // An exchange that ends when it is cancelled ends at the same moment.
            case .delivers(let send) where abandoned[send].map { $0 < time } == true:
                reached.insert(.ignoredCancellation)
            case .breaks(_, let reason, _, _) where reason.contains("never"): reached.insert(.hangs)
            case .plainRequest: reached.insert(.plain)
            case .empties: reached.insert(.emptied)
            case .connects(false): reached.insert(.outages)
            default: break
            }
        }

        private mutating func read(_ kind: CallKind, _ call: Int, isAutomatic: Bool) {
            switch kind {
            case .request(let plan) where plan.kind == .signed:
                signedCalls[call] = 0
                reached.insert(.signed)
            case .request(let plan) where plan.kind == .repeated: repeated[call] = 0
            case .request(let plan) where !plan.allowsRefresh: unrefreshed.insert(call)
            case .adoption: adoptions.insert(call)
            case .request(let plan) where plan.kind == .refresher: reached.insert(.refresherCalls)
            case .login where isAutomatic: reached.insert(.guests)
            default: break
            }
        }

        private mutating func read(_ exchange: Exchange) {
            if exchange.cookie ?? 0 > 0 { reached.insert(.cookies) }
            if exchange.call < 0 {
                if exchange.status == 200 || exchange.status == 304 { successes += 1 }
                if let family = exchange.token?.family { users[exchange.life, default: []].insert(family) }
            }
            if let count = signedCalls[exchange.call] {
                signedCalls[exchange.call] = count + 1
                if count > 0 { reached.insert(.recovered) }
            }
            if let count = repeated[exchange.call] {
                repeated[exchange.call] = count + 1
                if count > 0 { reached.insert(.repeated) }
            }
            if exchange.token != nil, unrefreshed.contains(exchange.call) { reached.insert(.unrefreshed) }
        }
    }
}
