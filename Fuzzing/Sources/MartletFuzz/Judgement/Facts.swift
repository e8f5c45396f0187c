import Martlet
import MartletTesting

/// The history of a schedule, indexed for the invariants. A position is an index into the history's entries.
struct Facts {
    /// A request to the token endpoint. Each optional position is that of the event in its name, at the server, in the
    /// network or in the process.
    struct Send {
        let number: Int
        let life: Life
        let token: TokenName
        let position: Int
        /// The position at which the engine handed the token to the refresher.
        let decidedAt: Int
        /// The state of the lock for the process when it sent the token. If a refresher takes so long that the next
        /// refresh of the process has requested the lock before, the state until then.
        let lock: StoreHistory.Lock
        /// The position at which the process requested its last update of the record before it sent the token. That
        /// update wrote the journal. 0 if there was none, because the store was busy.
        let prepared: Int
        var committed: Int?
        var delivered: Int?
        /// Whether the response arrived when the process may have stopped waiting for it.
        var isLate = false
        var brokeOff: Int?
        /// Whether the request has not left the device.
        var isUnsent = false
        var retryAfter: Duration?
        var abandoned: Int?
        var refused: (position: Int, reason: Rejection)?
        var death: Int?

        /// The position at which the process stopped waiting for the response.
        var end: Int { min(delivered ?? .max, abandoned ?? .max, death ?? .max) }
        /// Whether the process knows the result of the request.
        var isResultKnown: Bool {
            guard let delivered, brokeOff == nil, !isLate else { return false }
            return delivered < min(abandoned ?? .max, death ?? .max)
        }
        /// Whether the process knows that the request has not left the device.
        var isKnownUnsent: Bool {
            isUnsent && !isLate && (delivered ?? .max) < min(abandoned ?? .max, death ?? .max)
        }
        /// Whether the process received the token's successor.
        var receivedSuccessor: Bool { isResultKnown && refused == nil }
    }

    /// A call of the session engine by a caller.
    struct Call {
        let number: Int
        let life: Life
        let kind: CallKind
        let situation: Situation
        let position: Int
        /// Whether it is an automatic sign-in.
        let isAutomatic: Bool

        init(
            _ number: Int, _ life: Life, _ kind: CallKind, _ situation: Situation, _ position: Int, isAutomatic: Bool
        ) {
            (self.number, self.life, self.kind) = (number, life, kind)
            (self.situation, self.position, self.isAutomatic) = (situation, position, isAutomatic)
        }

        var cancelled: Int?
        var response: (position: Int, reply: Reply)?
        /// The session that a sign-in starts.
        var family: Int?
        /// The position at which the tokens of a sign-in arrived.
        var arrived: Int?
        var hasArrived: Bool { arrived != nil }

        /// The position at which its process was killed while the call was in progress.
        var death: Int?

        /// The position from which the call has no effect any more. A sign-in and a sign-out return only when the store
        /// has answered, even if they are cancelled.
        var end: Int { response?.position ?? death ?? .max }
        /// The position from which a sign-in or sign-out may end a session. A sign-in may do so once its tokens arrive.
        var effect: Int? { kind == .signOut ? position : startsSession ? arrived : nil }
        /// The family of the session that the process reported when the call began.
        var held: Int? { if case .session(let family) = situation { family } else { nil } }
    }

    let script: Script
    let history: History
    private(set) var sends: [Send] = []
    private(set) var calls: [Call] = []
    private(set) var requests: [(position: Int, exchange: Exchange)] = []
    private(set) var events: [(position: Int, life: Life, event: SessionEvent)] = []
    private(set) var store = StoreHistory()
    private(set) var jumps: [(position: Int, duration: Duration)] = []
    /// The positions at which the wall clock was set back, and those at which it was set forward.
    private(set) var setbacks: [Int] = []
    private(set) var advances: [Int] = []
    /// The positions at which the network came back, and those at which it went.
    private(set) var reconnections: [Int] = []
    private(set) var disconnections: [Int] = []
    private(set) var plainRequests: [(position: Int, life: Life, cookie: Int?)] = []
    /// The positions at which the app emptied its client without a manager, and the number of times it had done so
    /// until then.
    private(set) var emptyings: [(position: Int, life: Life, generation: Int)] = []
    private(set) var accountRequests: [(position: Int, life: Life, call: Int, account: Int?, token: TokenName?)] = []
    /// The first token of each sign-in to one of several accounts.
    private(set) var accountSignIns: [(call: Int, token: TokenName)] = []
    /// The session of the former library, and the expiry of its access token according to that library.
    let former: (family: Int, expiry: FormerScript.Expiry)?
    /// The records that adoptions have written.
    private(set) var adoptions: [(position: Int, call: Int, session: SessionID)] = []
    /// The position at which the former tokens were deleted, and those at which their adoption was noted.
    private(set) var formerRemoval: Int?
    private(set) var adoptionNotes: [Int] = []
    /// The position at which all faults end.
    private(set) var repaired = Int.max
    private var indices: [Int: Int] = [:]
    /// The tokens that refreshers have got and not sent yet: the number of each, and the state of the lock when the
    /// process requested it again.
    private var unsent: [Life: [Int: StoreHistory.Lock?]] = [:]
    /// The calls that were cancelled before they began.
    private var cancelledBeforehand: Set<Int> = []
    /// The adoptions in progress.
    private var adopting: [Life: Int] = [:]

    init(_ world: World) {
        script = world.script
        history = world.history
        former = world.former.flatMap { place in world.script.former.map { (place.family, $0.expiry) } }
        if script.start != .nothing { store.begin(with: TokenName(family: 1, number: 0)) }
        var decisions: [Int: [(life: Life, send: Int)]] = [:]
        for entry in history.entries {
            guard case .sends(let life, let number, _, let decidedAt) = entry.what else { continue }
            decisions[decidedAt, default: []].append((life, number))
        }
        for (position, entry) in history.entries.enumerated() {
            for (life, send) in decisions[position] ?? [] { unsent[life, default: [:]][send] = .some(nil) }
            add(entry.what, at: position)
        }
        store.finish(history)
    }

    private mutating func add(_ occurrence: Occurrence, at position: Int) {
        switch occurrence {
        case .sends(let life, let number, let token, let decidedAt):
            sends.append(
                Send(
                    number: number, life: life, token: token, position: position, decidedAt: decidedAt,
                    lock: (unsent[life]?.removeValue(forKey: number) ?? nil) ?? store.lockForSending(by: life),
                    prepared: store.lastUpdate(of: life, before: decidedAt) ?? 0))
        case .commits(let send, _), .repeats(let send, _): sends[send - 1].committed = position
        case .refuses(let send, let reason):
            sends[send - 1].refused = (position, reason)
        case .breaks(let send, _, let retryAfter, let isUnsent):
            sends[send - 1].brokeOff = position
            (sends[send - 1].isUnsent, sends[send - 1].retryAfter) = (isUnsent, retryAfter)
        case .delivers(let send):
            sends[send - 1].delivered = position
            sends[send - 1].isLate = time(position) - time(sends[send - 1].position) >= script.requestLimit
        case .abandons(let send): sends[send - 1].abandoned = position
        case .asks(let life, let number, let caller, let kind, let situation):
            add(Call(number, life, kind, situation, position, isAutomatic: caller == 0 && kind == .login))
        case .returns(let life, let number, let reply):
            update(number) { $0.response = (position, reply) }
            if adopting[life] == number { adopting[life] = nil }
        case .cancels(_, let number): cancel(number, at: position)
        case .issues(let number, let family): update(number) { $0.family = family }
        case .arrives(let number): update(number) { $0.arrived = position }
        case .request(let exchange): requests.append((position, exchange))
        case .event(let life, let event): events.append((position, life, event))
        case .disk(let life, let event): add(event, of: life, at: position)
        case .jumps(let duration): addJump(by: duration, at: position)
        case .connects(let isConnected):
            if isConnected { reconnections.append(position) } else { disconnections.append(position) }
        case .plainRequest(let life, let cookie, _): plainRequests.append((position, life, cookie))
        case .accountRequest(let life, let call, let account, let token):
            accountRequests.append((position, life, call, account, token))
        case .empties(let life, let generation): emptyings.append((position, life, generation))
        default: note(occurrence, at: position)
        }
    }

    private mutating func note(_ occurrence: Occurrence, at position: Int) {
        switch occurrence {
        case .accountTokens(let call, let token): accountSignIns.append((call, token))
        case .removesFormer: formerRemoval = position
        case .notesAdoption: adoptionNotes.append(position)
        case .setsWallClock(let seconds):
            if seconds < 0 { setbacks.append(position) } else { advances.append(position) }
        case .repairs: repaired = position
        default: break
        }
    }

    /// Calls get their numbers before it is known which of them are made.
    private mutating func add(_ new: Call) {
        indices[new.number] = calls.count
        var call = new
        if case .signIn(let family) = call.kind { (call.family, call.arrived) = (family, call.position) }
        if case .adoption = call.kind { adopting[call.life] = call.number }
        if cancelledBeforehand.contains(call.number) { call.cancelled = call.position }
        // The code of a killed process may still run until it next waits for the simulation.
        if store.deaths[call.life] != nil { call.death = call.position }
        calls.append(call)
    }

    private mutating func add(_ event: SimulatedDisk.Event, of life: Life, at position: Int) {
        if case .requested(.lock) = event {
            for (send, lock) in unsent[life] ?? [:] where lock == nil {
                unsent[life]?[send] = store.lockForSending(by: life)
            }
        }
        store.add(event, of: life, at: position)
        if case .wrote(let session) = event, let former, let call = adopting[life] {
            adoptions.append((position, call, session.id))
            update(call) { $0.family = former.family }
        }
        guard case .killed = event else { return }
        for index in sends.indices where sends[index].life == life { sends[index].death = position }
        for index in calls.indices where calls[index].life == life && calls[index].response == nil {
            calls[index].death = position
        }
    }

    private mutating func cancel(_ call: Int, at position: Int) {
        if indices[call] == nil { cancelledBeforehand.insert(call) }
        update(call) { $0.cancelled = $0.cancelled ?? position }
    }

    private mutating func addJump(by duration: Duration, at position: Int) {
        jumps.append((position, duration))
        // If a process has not looked at a response yet, its time limit may expire first.
        for index in sends.indices where sends[index].delivered.map({ time($0) == time(position) }) == true {
            let elapsed = time(position) + duration - time(sends[index].position)
            sends[index].isLate = sends[index].isLate || elapsed >= script.requestLimit
        }
    }

    private mutating func update(_ call: Int, _ change: (inout Call) -> Void) {
        guard let index = indices[call] else { return }
        change(&calls[index])
    }

    /// Whether a process had trouble with the disk in an interval, or the clock jumped past the time limit of an
    /// operation that was about to start.
    func hasTrouble(_ life: Life, from first: Int, to last: Int) -> Bool {
        store.hasTrouble(life, from: first, to: last)
            || jumps.contains {
                first < $0.position && $0.position < last && $0.duration >= .seconds(10)
                    && store.isAtWork(life, at: $0.position, until: time($0.position) + $0.duration, in: history)
            }
    }

    func call(_ number: Int) -> Call? { indices[number].map { calls[$0] } }

    /// Whether a call may refresh the token of its request.
    func allowsRefresh(_ number: Int) -> Bool {
        if case .request(let plan)? = call(number)?.kind { plan.allowsRefresh } else { true }
    }

    func family(of session: SessionID) -> Int? { history.families[session] }

    func time(_ position: Int) -> Duration { history.entries[position].at }

    /// The time from one position to another, without the jumps of the clock, which happen while tasks are ready to
    /// run.
    func elapsed(from first: Int, to last: Int) -> Duration {
        guard first < last else { return .zero }
        let jumped = jumps.reduce(Duration.zero) { sum, jump in
            first < jump.position && jump.position < last ? sum + jump.duration : sum
        }
        return time(last) - time(first) - jumped
    }
}
