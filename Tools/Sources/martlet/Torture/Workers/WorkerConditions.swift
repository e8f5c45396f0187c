internal import Martlet

/// The conditions of a worker that may differ from those of other workers.
struct WorkerConditions: Sendable, Hashable, Codable {
    /// The transport that sends the worker's requests.
    var transport = WorkerTransport.asyncHTTPClient
    /// The time by which the worker's wall clock is ahead of the right time; negative if it is behind.
    var clockOffset = Duration.zero
    /// The limit of inotify that the worker has reached; `nil` if it can watch files.
    var watchLimit: InotifyLimit?
}

/// The transports of Martlet.
enum WorkerTransport: String, CaseIterable, Sendable, Codable {
    case asyncHTTPClient = "async-http-client"
    case urlSession = "url-session"

    func make() -> any Transport {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        case .urlSession: URLSessionTransport()
        }
    }
}

/// Decides which conditions a worker has, by its name only.
struct ConditionPlan: Sendable, Hashable {
    /// A problem that one process may have.
    enum Hardship: String, CaseIterable, Sendable {
        /// The wall clock of one process is hours or a day off.
        case clock
        /// One process cannot watch files, because the limits of inotify are reached.
        case watch
    }

    var hardships: [Hardship] = []
    /// The transports, which the new workers of a slot get in turn.
    var transports = [WorkerTransport.asyncHTTPClient]
    /// An offset that makes the plans of stores and modes differ, because all of them begin with the same workers.
    var shift = 0

    private static let slots = (clock: 1, watch: 2)
    private static let offsets: [Duration] = [
        .seconds(2 * 3600), .seconds(-2 * 3600), .seconds(24 * 3600), .seconds(-24 * 3600),
    ]

    func conditions(of worker: WorkerName) -> WorkerConditions {
        let turn = worker.generation - 1 + shift
        func isHit(_ hardship: Hardship, in slot: Int) -> Bool { worker.slot == slot && hardships.contains(hardship) }
        var conditions = WorkerConditions()
        conditions.transport = transports[(worker.slot + turn) % transports.count]
        if isHit(.clock, in: Self.slots.clock) { conditions.clockOffset = Self.offsets[turn % Self.offsets.count] }
        if isHit(.watch, in: Self.slots.watch) {
            conditions.watchLimit = InotifyLimit.allCases[turn % InotifyLimit.allCases.count]
        }
        return conditions
    }
}
