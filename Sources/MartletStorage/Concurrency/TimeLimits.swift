/// Enforces time limits on operations, with one sleeping task for all of them.
///
/// A timer per request would cost as much as the rest of the client.
@usableFromInline
package final class TimeLimits: Sendable {
    /// One time limit, and the action to perform when it expires.
    private struct Entry {
        var deadline: Duration
        var expire: @Sendable () -> Void
    }

    /// The limits that have not expired, and the task that sleeps until the earliest one.
    private struct State {
        var entries: [Int: Entry] = [:]
        var lastID = 0
        /// The uptime at which the sleeping task wakes; `nil` if there is none.
        var wakesAt: Duration?
        var sleeper: Task<Void, Never>?
    }

    /// The additional time for a result that may have arrived while the device slept.
    package static let wakeGrace = Duration.seconds(2)

    /// If a limit expires at least this late, the device has slept.
    private static let leastSleep = Duration.milliseconds(100)

    private let time: any TimeSource
    private let keepsSleeper: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - time: The clock.
    ///   - keepsSleeper: Whether the sleeping task is kept while there are no limits. That avoids starting tasks if
    ///     limits come and go frequently.
    package init(time: any TimeSource, keepsSleeper: Bool = true) {
        self.time = time
        self.keepsSleeper = keepsSleeper
    }

    deinit {
        state.withLock { $0.sleeper?.cancel() }
    }

    /// Runs an operation in a task of its own. Returns its result, or an error if the limit expires or the caller is
    /// cancelled first. In both cases the operation is cancelled, but not awaited.
    /// - Parameters:
    ///   - limit: The time limit; `nil` for none.
    ///   - grace: The additional time that the operation may take if the device slept when the limit expired. Its
    ///     result may have arrived during the sleep.
    @inlinable
    package func run<Value: Sendable>(
        within limit: Duration?, graceAfterSleep grace: Duration = .zero,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await run(withoutProgressFor: limit, graceAfterSleep: grace) { _ in try await operation() }
    }

    /// Like `run(within:_:)`, but the limit restarts whenever the operation reports progress.
    @inlinable
    package func run<Value: Sendable>(
        withoutProgressFor limit: Duration?, graceAfterSleep grace: Duration = .zero,
        _ operation: @escaping @Sendable (ProgressSignal) async throws -> Value
    ) async -> Result<Value, any Error> {
        let race = Race<Value>()
        // Begin the limit before the operation starts, because the operation may advance the clock of a test.
        let running = limit.map(begin)
        let progress = progress(of: running)
        let work = Task {
            do {
                race.finish(.success(try await operation(progress)))
            } catch {
                race.finish(.failure(error))
            }
        }
        if let running {
            enforce(running, graceAfterSleep: grace) {
                race.finish(.failure(TimeLimitError(limit: running.limit)))
                work.cancel()
            }
        }
        defer { if let running { remove(running.ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { race.wait($0) }
        } onCancel: {
            race.finish(.failure(CancellationError()))
            work.cancel()
        }
    }

    /// The limit of an operation that is running.
    @usableFromInline
    struct RunningLimit: Sendable {
        @usableFromInline let ticket: Int
        @usableFromInline let limit: Duration
        fileprivate let deadline: Duration
    }

    @usableFromInline
    func begin(_ limit: Duration) -> RunningLimit {
        RunningLimit(ticket: makeTicket(), limit: limit, deadline: time.uptime + limit)
    }

    @usableFromInline
    func progress(of running: RunningLimit?) -> ProgressSignal {
        guard let running else { return ProgressSignal {} }
        return ProgressSignal { [self] in postpone(running.ticket, by: running.limit) }
    }

    @usableFromInline
    func enforce(
        _ running: RunningLimit, graceAfterSleep grace: Duration, _ expire: @escaping @Sendable () -> Void
    ) {
        guard grace > .zero else { return register(running.ticket, deadline: running.deadline, expire: expire) }
        register(running.ticket, deadline: running.deadline) { [weak self, time] in
            let now = time.uptime
            guard let self, now - running.deadline >= Self.leastSleep else { return expire() }
            register(running.ticket, deadline: now + grace, expire: expire)
        }
    }

    /// Calls a closure after a time, unless the call is cancelled first.
    /// - Parameter grace: The additional time if the device has slept beyond the limit.
    /// - Returns: A closure that cancels the call.
    package func schedule(
        after limit: Duration, graceAfterSleep grace: Duration = .zero, _ expire: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let running = begin(limit)
        enforce(running, graceAfterSleep: grace, expire)
        return { [weak self] in self?.remove(running.ticket) }
    }

    private func makeTicket() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func register(_ ticket: Int, deadline: Duration, expire: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.entries[ticket] = Entry(deadline: deadline, expire: expire)
            if state.wakesAt.map({ deadline < $0 }) ?? true { sleep(until: deadline, &state) }
        }
    }

    /// Moves a deadline without waking the sleeping task. If that task wakes and no limit has expired, it sleeps again.
    private func postpone(_ ticket: Int, by limit: Duration) {
        let deadline = time.uptime + limit
        state.withLock { $0.entries[ticket]?.deadline = deadline }
    }

    @usableFromInline
    func remove(_ ticket: Int) {
        state.withLock { state in
            state.entries[ticket] = nil
            guard !keepsSleeper, state.entries.isEmpty else { return }
            state.sleeper?.cancel()
            state.sleeper = nil
            state.wakesAt = nil
        }
    }

    private func sleep(until deadline: Duration, _ state: inout State) {
        state.sleeper?.cancel()
        state.wakesAt = deadline
        // Detached: the task serves all callers, so it must not inherit the first one's task-local values. Its priority
        // is not raised: on a busy machine, limits would expire while the tasks that they limit wait for a thread.
        state.sleeper = Task.detached(priority: Task.currentPriority) { [weak self, time] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            self?.wake(for: deadline)
        }
    }

    private func wake(for deadline: Duration) {
        let expired = state.withLock { state -> [Entry] in
            // A sleeping task may wake although it was just replaced. It must do nothing then.
            guard state.wakesAt == deadline else { return [] }
            let now = max(time.uptime, deadline)
            let due = state.entries.filter { $0.value.deadline <= now }
            for id in due.keys { state.entries[id] = nil }
            state.wakesAt = nil
            state.sleeper = nil
            if let next = state.entries.values.map(\.deadline).min() { sleep(until: next, &state) }
            return due.sorted { $0.key < $1.key }.map(\.value)
        }
        for entry in expired { entry.expire() }
    }
}

/// Reports that an operation makes progress, which restarts its time limit.
@usableFromInline
package struct ProgressSignal: Sendable {
    package let report: @Sendable () -> Void
}

/// An operation did not finish within its limit.
@usableFromInline
package struct TimeLimitError: Error {
    package let limit: Duration

    @usableFromInline
    package init(limit: Duration) {
        self.limit = limit
    }
}
