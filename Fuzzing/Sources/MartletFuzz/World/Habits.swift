import Martlet
import MartletTesting

/// The features that the app of a schedule uses in addition to calls and sign-ins.
struct Habits: Sendable {
    /// Callers with steps of their own.
    enum Kind: Sendable, CaseIterable {
        /// The app signs requests for another HTTP client.
        case signing
        /// Calls that need a session register a guest if there is none.
        case guests
        /// The client keeps cookies and responses, and joins identical calls.
        case keeping
        /// A client without a manager also keeps cookies and responses.
        case plain
        /// The app downloads a file that all users may read, and keeps partial downloads.
        case downloading
        /// The app is signed in to several accounts at the same time.
        case accounts
    }

    var kinds: [Kind]
    /// Whether the refresher makes a call with the app's client.
    var refresherCalls: Bool
    /// Whether the token endpoint often does not respond.
    var hangs: Bool
    /// Whether the network comes and goes.
    var hasOutages: Bool
    /// The time that calls wait for a network.
    var connectivityTimeout: Duration?
    /// Whether an interceptor, and not the endpoint, adds the credentials of the client without a manager.
    var interceptorAuthorizes: Bool

    var registersGuests: Bool { kinds.contains(.guests) }
    var keepsResponses: Bool { kinds.contains(.keeping) }

    init(_ dice: inout SeededGenerator) {
        // Many schedules have none, so that the engine alone is tried often, too.
        let isBusy = dice.isTrue(inPercent: 60)
        kinds = isBusy ? Kind.allCases.filter { dice.isTrue(inPercent: $0.percentage) } : []
        refresherCalls = isBusy && dice.isTrue(inPercent: 18)
        hangs = isBusy && dice.isTrue(inPercent: 16)
        hasOutages = isBusy && dice.isTrue(inPercent: 18)
        connectivityTimeout = dice.isTrue(inPercent: 60) ? dice.pick([.seconds(5), .seconds(60)]) : nil
        interceptorAuthorizes = dice.isTrue(inPercent: 50)
    }
}

extension Habits.Kind {
    /// Whether the steps follow each other so closely that they meet the effects of earlier steps.
    var isClose: Bool {
        switch self {
        case .keeping, .plain, .downloading, .accounts: true
        case .signing, .guests: false
        }
    }

    /// The percentage of the schedules with habits that have this one.
    fileprivate var percentage: Int {
        switch self {
        case .keeping, .signing: 36
        case .downloading: 42
        case .guests, .plain, .accounts: 18
        }
    }

    /// A step of a caller.
    func step(_ dice: inout SeededGenerator) -> Script.Step.What {
        switch self {
        case .signing:
            dice.isTrue(inPercent: 60)
                ? .signed(dice.pick([.required, .ifSignedIn]), isPicky: dice.isTrue(inPercent: 50))
                : .repeated(dice.pick([.required, .ifSignedIn]), isPicky: dice.isTrue(inPercent: 30))
        case .guests:
            switch dice.number(below: 5) {
            case 0: .upgrade
            case 1: .signOut
            default: .request(RequestPlan(authentication: dice.pick([.required, .required, .ifSignedIn])))
            }
        case .keeping:
            // What one user leaves behind must not reach the next one.
            dice.isTrue(inPercent: 15)
                ? .signIn : .shared(Resource(&dice, isFavorite: dice.isTrue(inPercent: 60)))
        case .accounts: .account(.random(&dice))
        case .downloading: .download(dice.pick([.required, .ifSignedIn, .ifSignedIn, .none]))
        case .plain:
            dice.isTrue(inPercent: 25)
                ? .empty
                : .plain(Resource(&dice, isFavorite: dice.isTrue(inPercent: 60)), credential: 1 + dice.number(below: 2))
        }
    }
}

/// A resource that all callers read. Its number determines how it may be kept.
struct Resource: Sendable, Hashable {
    /// The conditions under which a stored response may be used.
    enum Freshness: Sendable, CaseIterable { case aMinute, afterAsking, afterFailures, never }

    var freshness: Freshness
    var authentication: AuthenticationRequirement

    /// - Parameter isFavorite: Whether to take the one that most calls read.
    init(_ dice: inout SeededGenerator, isFavorite: Bool) {
        freshness = isFavorite ? .aMinute : dice.pick(Freshness.allCases)
        authentication = isFavorite ? .ifSignedIn : dice.pick([.required, .ifSignedIn, .ifSignedIn, .none])
    }

    init?(number: Int) {
        guard Freshness.allCases.indices.contains(number) else { return nil }
        freshness = Freshness.allCases[number]
        authentication = .ifSignedIn
    }

    var number: Int { Freshness.allCases.firstIndex(of: freshness) ?? 0 }
}
