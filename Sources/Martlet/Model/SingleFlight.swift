/// Lets work that many ask for be done once: whoever comes while it is under way gets what it comes to.
final class SingleFlight<Value: Sendable>: Sendable {
    private let underWay = Locked<Task<Value, Never>?>(nil)
    private let limits: TimeLimits

    init(time: any TimeSource) {
        self.limits = TimeLimits(time: time)
    }

    /// Starts the work or joins it.
    /// - Returns: `nil` where the caller was cancelled; the work goes on for whoever else waits for it.
    func run(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let task = underWay.withLock { underWay in
            if let underWay { return underWay }
            let task = Task { [self] in
                defer { self.underWay.withLock { $0 = nil } }
                return await work()
            }
            underWay = task
            return task
        }
        return try? await limits.run(within: nil) { await task.value }.get()
    }
}
