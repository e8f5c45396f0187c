// What the torture and its worker processes say to each other: one JSON value a line, over the worker's standard input
// and output.

/// Which worker: its place in the crew, and how many have had the place before it.
struct WorkerName: Sendable, Hashable, Codable, CustomStringConvertible {
    let slot: Int
    let generation: Int

    init(slot: Int, generation: Int) {
        self.slot = slot
        self.generation = generation
    }

    /// The name in a `User-Agent` field.
    init?(userAgent: String) {
        guard userAgent.hasPrefix(Self.prefix) else { return nil }
        let parts = userAgent.dropFirst(Self.prefix.count).split(separator: ".").map { Int($0) }
        guard parts.count == 2, let slot = parts[0], let generation = parts[1] else { return nil }
        self.init(slot: slot, generation: generation)
    }

    private static let prefix = "martlet-torture/"

    var userAgent: String { "\(Self.prefix)\(self)" }
    var description: String { "\(slot).\(generation)" }
}

/// What a worker knows from the start.
struct WorkerBrief: Sendable, Codable {
    let name: WorkerName
    let baseURL: String
    let record: String
    let lease: Duration
    let grace: Duration
    /// How long it may take to follow an order.
    let patience: Duration
    /// Whether the worker goes without the lock, so that the torture must fail.
    let hidesLock: Bool
}

/// What a worker is told to do. It does one thing at a time, and reports once it is done.
enum WorkerOrder: Sendable, Codable {
    /// Signs in with a password.
    case signIn(email: String, password: String)
    /// Waits for the session, then makes calls at the same time.
    case call(session: String, count: Int, pause: Duration, alongside: Deed?)
    /// Waits until the session is not signed in any more.
    case leave(session: String)

    /// What is done besides making calls.
    enum Deed: String, Sendable, Codable {
        case refresh
        case signOut
    }
}

/// What a worker has to say.
enum WorkerReport: Sendable, Codable {
    /// It has begun.
    case ready
    case signedIn(session: String)
    /// All calls have ended.
    case called(CallTally)
    /// The session is over, and so it looks from here.
    case left(WorkerState)
    case failed(String)
}

/// What became of calls, and of the session meanwhile.
struct CallTally: Sendable, Codable {
    var successes = 0
    /// By kind.
    var failures: [String: Int] = [:]
    var adoptions = 0
    /// Refreshes that had their token sent a second time within the grace.
    var replays = 0
    /// The last session that was renewed, and the rotation that it was brought to.
    var session: String?
    var rotation = 0
    /// What the store could not do, by what it said.
    var trouble: [String: Int] = [:]
    var state = WorkerState.other("unknown")
}

/// A session's state as far as the torture judges it.
enum WorkerState: Sendable, Hashable, Codable, CustomStringConvertible {
    case signedIn(session: String)
    case signedOut
    case rotationLost
    case expired(String)
    case other(String)

    var description: String {
        switch self {
        case .signedIn(let session): "signed in (\(session.prefix(8)))"
        case .signedOut: "signed out"
        case .rotationLost: "rotationLost"
        case .expired(let reason): "expired: \(reason)"
        case .other(let text): text
        }
    }
}
