/// A mode of the test: the faults that hit the processes, and whether they may lose the session because of them.
enum TortureMode: String, CaseIterable, Sendable {
    /// No process is killed or stopped.
    case calm
    /// Processes are killed and stopped. The server accepts a used refresh token within a grace period that is longer
    /// than the lease of the lock.
    case grace
    /// Processes are killed and stopped. The server accepts no used refresh token.
    case harsh

    /// The lease of the lock. In ``calm`` it is long, so that a lock is not taken over because of a slow machine.
    func lease(_ lease: Duration) -> Duration {
        self == .calm ? .seconds(45) : lease
    }

    /// The grace period of the server, which all processes know.
    var grace: Duration {
        self == .grace ? .seconds(30) : .zero
    }

    var injectsFaults: Bool { self != .calm }

    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Whether a session may be lost if a fault explains it.
    var mayLoseSessions: Bool { self == .harsh }
}

/// The parameters of a run.
struct TortureSettings: Sendable {
    var rounds: Int
    var seed: UInt64
    /// The number of workers that share a record. Each round uses at least two of them.
    var processes: Int
    var lease: Duration
    /// The time that a worker may take to report before it counts as hung.
    var timeout = Duration.seconds(60)
    /// The hardships of the run, each of which hits one process.
    var hardships = ConditionPlan.Hardship.allCases
    /// The transports, which the workers use in turn.
    var transports = WorkerTransport.allCases
    /// A fault that must make the test fail.
    var fault: PlantedFault?
    /// The stores that share the rounds. Each has a record of its own, and they are tested in parallel: while one test
    /// waits for a stopped process, another one continues.
    var stores = TortureStore.allCases
    /// The time limit of all modes, of which each gets a share; `nil` for no limit.
    var limit: Duration?

    /// The options of the command for the lease, the hardships and the transports.
    var conditionOptions: String {
        let hardship = hardships.count == 1 ? hardships[0].rawValue : hardships.isEmpty ? "none" : "all"
        let transport = transports.count == 1 ? transports[0].rawValue : "all"
        return " --lease \(Int(lease.inMilliseconds)) --hardship \(hardship) --transport \(transport)"
    }

    /// The conditions of the workers that use a store in a mode.
    func conditions(in mode: TortureMode, over store: TortureStore) -> ConditionPlan {
        let shift = mode.number + (TortureStore.allCases.firstIndex(of: store) ?? 0)
        return ConditionPlan(hardships: hardships, transports: transports, shift: shift)
    }
}
