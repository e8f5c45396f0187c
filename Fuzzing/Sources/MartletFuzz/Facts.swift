import Martlet
import MartletTesting

/// The history of a schedule, indexed for the invariants. A position is an index into the history's entries.
struct Facts {
    /// A request to the token endpoint. The optional positions say when the server, the network and the process did
    /// what their names say.
    struct Send {
        let number: Int
        let life: Life
        let token: TokenName
        let position: Int
        /// The position of the process's last read of the record before it sent the token.
        let lastReadPosition: Int
        var committed: Int?
        var delivered: Int?
        var brokeOff: Int?
        var abandoned: Int?
        var refused: (position: Int, reason: Rejection)?
        var death: Int?

        /// The position at which the process stopped waiting for the response.
        var end: Int { min(delivered ?? .max, abandoned ?? .max, death ?? .max) }
        /// Whether the process knows the result of the request.
        var isResultKnown: Bool {
            guard let delivered, brokeOff == nil else { return false }
            return delivered < min(abandoned ?? .max, death ?? .max)
        }
        /// Whether the process received the token's successor.
        var receivedSuccessor: Bool { isResultKnown && refused == nil }
    }

    /// A call of the session engine by a caller.
    struct Call {
        let number: Int
        let life: Life
        let kind: CallKind
        /// The family of the session that the process reported when the call began.
        let held: Int?
        let position: Int
        var cancelled: Int?
        var response: (position: Int, reply: Reply)?
    }

    let script: Script
    let history: History
    private(set) var sends: [Send] = []
    private(set) var calls: [Call] = []
    /// The position at which each token was first stored.
    private(set) var durable: [TokenName: Int] = [:]
    private(set) var deaths: [Life: Int] = [:]
    /// The positions at which a lock was taken from its holder or could not be acquired.
    private(set) var lockTrouble: [Int] = []
    private(set) var diskTrouble: [(position: Int, life: Life)] = []
    /// Whether the disk reported a failure of an update that it had performed. Processes may then differ in what they
    /// know.
    private(set) var reportedFalseFailure = false
    private(set) var jumps: [Int] = []
    private var lastReads: [Life: Int] = [:]
    private var asked: [Life: SimulatedDisk.Operation] = [:]
    private(set) var rejectedFamilies: Set<Int> = []

    init(_ world: World) {
        script = world.script
        history = world.history
        for (position, entry) in history.entries.enumerated() {
            switch entry.what {
            case .sends(let life, let number, let token):
                sends.append(
                    Send(
                        number: number, life: life, token: token, position: position,
                        lastReadPosition: lastReads[life] ?? position))
            case .commits(let send, _), .repeats(let send, _): sends[send - 1].committed = position
            case .refuses(let send, let reason):
                sends[send - 1].refused = (position, reason)
                rejectedFamilies.insert(sends[send - 1].token.family)
            case .breaks(let send, _): sends[send - 1].brokeOff = position
            case .delivers(let send): sends[send - 1].delivered = position
            case .abandons(let send): sends[send - 1].abandoned = position
            case .asks(let life, let number, _, let kind, let held):
                // Calls are numbered before it is known which of them are made.
                calls.append(Call(number: number, life: life, kind: kind, held: held, position: position))
            case .returns(_, let number, let reply): update(number) { $0.response = (position, reply) }
            case .cancels(_, let number): update(number) { $0.cancelled = $0.cancelled ?? position }
            case .disk(let life, let event): add(event, of: life, at: position)
            case .jumps: jumps.append(position)
            default: break
            }
        }
    }

    private mutating func update(_ call: Int, _ change: (inout Call) -> Void) {
        guard let index = calls.lastIndex(where: { $0.number == call }) else { return }
        change(&calls[index])
    }

    private mutating func add(_ event: SimulatedDisk.Event, of life: Life, at position: Int) {
        switch event {
        case .requested(let operation) where operation != .lock: asked[life] = operation
        case .wrote, .read, .failed(.update, _, _):
            if asked[life] == .update { lastReads[life] = position }
        default: break
        }
        switch event {
        case .wrote(let session):
            guard let token = TokenName(of: session.bundle), durable[token] == nil else { return }
            durable[token] = position
        case .killed:
            deaths[life] = position
            for index in sends.indices where sends[index].life == life { sends[index].death = position }
        case .tookOverLock: lockTrouble.append(position)
        case .read(.unavailable): diskTrouble.append((position, life))
        case .failed(let operation, _, _):
            if operation == .lock { lockTrouble.append(position) }
            diskTrouble.append((position, life))
            reportedFalseFailure = reportedFalseFailure || event.isFalseFailure
        default: break
        }
    }

    func family(of session: SessionID) -> Int? { history.families[session] }

    func time(_ position: Int) -> Duration { history.entries[position].at }
}
