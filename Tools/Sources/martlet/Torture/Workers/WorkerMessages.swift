internal import Martlet

// The messages between the torture test and its workers: one JSON value per line, over the worker's standard input and
// output.

/// The name of a worker: its slot in the pool, and how many workers the slot has had including this one.
struct WorkerName: Sendable, Hashable, Codable, CustomStringConvertible {
    let slot: Int
    let generation: Int

    init(slot: Int, generation: Int) {
        self.slot = slot
        self.generation = generation
    }

    /// Parses a `User-Agent` field; `nil` if it does not name a worker.
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

/// The configuration that a worker is started with.
struct WorkerConfiguration: Sendable, Codable {
    let name: WorkerName
    let baseURL: String
    let store: TortureStore
    let folder: String
    let lease: Duration
    let grace: Duration
    /// The time limit for one instruction.
    let timeout: Duration
    let conditions: WorkerConditions
    /// A fault that must make the test fail.
    let fault: PlantedFault?
}

/// An instruction to a worker. The worker executes one at a time and reports its result.
enum WorkerInstruction: Sendable, Codable {
    case signIn(email: String, password: String)
    /// Waits until the session is signed in, then makes calls at the same time.
    case call(session: String, count: Int, pause: Duration, alongside: Action?)
    /// Waits until the session is no longer signed in, and then makes calls, which must fail.
    /// - `makesCall`: Whether the worker makes a call before that, which tells it that the session has ended.
    /// - `isSignOut`: Whether a user has signed out. A worker that cannot watch the record may still show the end of an
    ///   earlier session. It then waits until it checks the record.
    case awaitEnd(session: String, makesCall: Bool, isSignOut: Bool)

    /// An operation that runs in parallel with the calls.
    enum Action: String, Sendable, Codable {
        case refresh
        case signOut
    }
}

/// The result of an instruction.
enum WorkerReport: Sendable, Codable {
    /// The worker has started.
    case ready
    case signedIn(session: String)
    /// All calls have ended.
    case called(CallTally)
    case ended(EndReport)
    case failed(String)
}

/// A worker's report on the end of a session.
struct EndReport: Sendable, Codable {
    /// The worker's state when it had noticed the end or given up waiting for it.
    var state: WorkerState
    /// Whether the worker has ever seen the session. If not, its state is that of an earlier one.
    var hasSeenSession = true
    /// The time that it waited.
    var wait = Duration.zero
    /// The number of times the store could not be watched since the worker started.
    var watchFailures = 0
    var content = ContentTally()
    var lateness = Duration.zero
}

/// The results of a worker's calls, and the session events since the last report.
struct CallTally: Sendable, Codable {
    var successes = 0
    /// The number of failed calls by kind.
    var failures: [String: Int] = [:]
    var adoptions = 0
    /// Refreshes whose token was sent a second time within the grace period.
    var replays = 0
    /// The last session that was refreshed or adopted, and its rotation.
    var session: String?
    var rotation = 0
    /// The number of failed store operations by error text.
    var storeFailures: [String: Int] = [:]
    /// The rotation in the store before the calls, if the worker had other tokens than the store.
    var missedRotation: Int?
    /// The number of times the store could not be watched since the worker started.
    var watchFailures = 0
    var content = ContentTally()
    /// The greatest lateness of the worker since the last report.
    var lateness = Duration.zero
    var state = WorkerState.other("unknown")
}

/// The parts of a session's state that the test judges.
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

/// The names of the kinds of failed calls.
enum CallFailure {
    static let sessionExpired = "session expired"
    static let signInRequired = "sign-in required"
    static let sessionChanged = "session changed"
    /// The kinds that mean the end of a session.
    static let ends: Set<String> = [sessionExpired, signInRequired, sessionChanged]

    static let refreshTimedOut = refresh(.timedOut)
    static let storeUnavailable = refresh(.storage)
    static let rejected = refused(401)

    static func refresh(_ kind: RefreshError.Kind) -> String { "refresh failed: \(kind)" }
    static func refused(_ status: Int) -> String { "refused with \(status)" }
}
