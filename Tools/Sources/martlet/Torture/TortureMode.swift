/// What processes have to suffer, and what they may lose by it.
enum TortureMode: String, CaseIterable, Sendable {
    /// Nobody is killed or stopped.
    case calm
    /// Processes are killed and stopped, and the server forgives a token that comes back within a grace longer than the
    /// lease of the lock.
    case graced
    /// Processes are killed and stopped, and the server forgives nothing.
    case harsh

    /// How long a holder of the lock is left alone. Where nobody is stopped, a slow machine is no reason to take the lock
    /// away from anybody.
    func lease(_ lease: Duration) -> Duration {
        self == .calm ? .seconds(45) : lease
    }

    /// How long the server forgives, and all processes know that.
    var grace: Duration {
        self == .graced ? .seconds(30) : .zero
    }

    var hasStrikes: Bool { self != .calm }

    /// Whether a session may be lost, where a strike explains it.
    var mayLoseSessions: Bool { self == .harsh }
}

/// What a torture is run with.
struct TortureSettings: Sendable {
    var rounds: Int
    var seed: UInt64
    /// At most so many workers share a record; each round takes at least two of them.
    var processes: Int
    var lease: Duration
    /// How long a worker may take before it counts as hanging.
    var patience = Duration.seconds(60)
    var hidesLock = false
    /// How many records are tortured at the same time: while one waits for a process that was stopped, another goes on.
    var lanes = 2
}
