import Martlet
import MartletTesting

/// What the history of a schedule says, sorted for those who judge it. Places in the history are counts of entries.
struct Facts {
    struct Send {
        let number: Int
        let life: Life
        let token: TokenName
        let place: Int
        /// Where the process had last looked at the disk to note what it is about to do.
        let look: Int
        var committed: Int?
        var answered: Int?
        var brokeOff: Int?
        var abandoned: Int?
        var refused: (place: Int, why: Refusal)?
        var death: Int?

        /// When the process stopped waiting for it.
        var end: Int { min(answered ?? .max, abandoned ?? .max, death ?? .max) }
        /// Whether the process knows what became of it.
        var isClear: Bool {
            guard let answered, brokeOff == nil else { return false }
            return answered < min(abandoned ?? .max, death ?? .max)
        }
        /// Whether the process got the successor of the token.
        var brought: Bool { isClear && refused == nil }
    }

    struct Call {
        let number: Int
        let life: Life
        let wish: Wish
        let held: Int?
        let place: Int
        var cancelled: Int?
        var answer: (place: Int, reply: Reply)?
    }

    let script: Script
    let history: History
    private(set) var sends: [Send] = []
    private(set) var calls: [Call] = []
    /// Where a record with this token was written first.
    private(set) var durable: [TokenName: Int] = [:]
    private(set) var deaths: [Life: Int] = [:]
    /// Where a lock was taken from its holder, or could not be had.
    private(set) var lockTrouble: [Int] = []
    private(set) var diskTrouble: [(place: Int, life: Life)] = []
    /// Whether a disk has written something and called it a failure: whoever was told so cannot know what others saw.
    private(set) var hasMisled = false
    private(set) var jumps: [Int] = []
    private var looks: [Life: Int] = [:]
    private var asked: [Life: SimulatedDisk.Operation] = [:]
    private(set) var isAnybodyRefused: Set<Int> = []

    init(_ world: World) {
        script = world.script
        history = world.history
        for (place, entry) in history.entries.enumerated() {
            switch entry.what {
            case .sends(let life, let number, let token):
                sends.append(
                    Send(number: number, life: life, token: token, place: place, look: looks[life] ?? place))
            case .commits(let send, _), .repeats(let send, _): sends[send - 1].committed = place
            case .refuses(let send, let why):
                sends[send - 1].refused = (place, why)
                isAnybodyRefused.insert(sends[send - 1].token.family)
            case .breaks(let send, _): sends[send - 1].brokeOff = place
            case .delivers(let send): sends[send - 1].answered = place
            case .abandons(let send): sends[send - 1].abandoned = place
            case .asks(let life, let number, _, let wish, let held):
                // Calls are numbered before those that are never made are known.
                calls.append(Call(number: number, life: life, wish: wish, held: held, place: place))
            case .answers(_, let number, let reply): update(number) { $0.answer = (place, reply) }
            case .cancels(_, let number): update(number) { $0.cancelled = $0.cancelled ?? place }
            case .disk(let life, let incident): add(incident, of: life, at: place)
            case .jumps: jumps.append(place)
            default: break
            }
        }
    }

    private mutating func update(_ call: Int, _ change: (inout Call) -> Void) {
        guard let index = calls.lastIndex(where: { $0.number == call }) else { return }
        change(&calls[index])
    }

    private mutating func add(_ incident: SimulatedDisk.Incident, of life: Life, at place: Int) {
        switch incident {
        case .asked(let operation) where operation != .lock: asked[life] = operation
        case .wrote, .kept, .failed(.update, _, _):
            if asked[life] == .update { looks[life] = place }
        default: break
        }
        switch incident {
        case .wrote(let session):
            guard let token = TokenName(of: session.bundle), durable[token] == nil else { return }
            durable[token] = place
        case .killed:
            deaths[life] = place
            for index in sends.indices where sends[index].life == life { sends[index].death = place }
        case .tookLock: lockTrouble.append(place)
        case .kept(.unavailable): diskTrouble.append((place, life))
        case .failed(let operation, _, _):
            if operation == .lock { lockTrouble.append(place) }
            diskTrouble.append((place, life))
            hasMisled = hasMisled || incident.isMisleading
        default: break
        }
    }

    func family(of session: SessionID) -> Int? { history.families[session] }

    func time(_ place: Int) -> Duration { history.entries[place].at }
}
