/// Ends operations that take too long, with one sleeping task for all of them.
///
/// A timer of its own for each request would cost as much as the rest of the client.
final class TimeLimits: Sendable {
    private struct Entry {
        var deadline: Duration
        var expire: @Sendable () -> Void
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var lastID = 0
        /// When the sleeping task wakes up; `nil` where none sleeps.
        var wakesAt: Duration?
        var sleeper: Task<Void, Never>?
    }

    private let time: any TimeSource
    private let sleepsOn: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - time: The clock.
    ///   - sleepsOn: Whether the sleeping task is kept when there is nothing to wake up for, which saves many a start
    ///     where limits come and go all the time.
    init(time: any TimeSource, sleepsOn: Bool = true) {
        self.time = time
        self.sleepsOn = sleepsOn
    }

    deinit {
        state.withLock { $0.sleeper?.cancel() }
    }

    /// Runs an operation in a task of its own and returns with what comes first: its result, the limit, or the
    /// cancellation of the caller. In the latter two cases the operation is cancelled and not waited for.
    func run<Value: Sendable>(
        within limit: Duration?, _ operation: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await run(withoutHeadwayFor: limit) { _ in try await operation() }
    }

    /// As `run(within:_:)`, but the limit starts anew each time the operation says that it has made headway.
    func run<Value: Sendable>(
        withoutHeadwayFor limit: Duration?, _ operation: @escaping @Sendable (Headway) async throws -> Value
    ) async -> Result<Value, any Error> {
        let race = Race<Value>()
        let ticket = limit.map { _ in makeTicket() }
        // Taken before the operation starts: what that does to the clock counts.
        let deadline = limit.map { time.uptime + $0 }
        let headway = Headway { [weak self] in
            if let limit, let ticket { self?.postpone(ticket, by: limit) }
        }
        let work = Task {
            do {
                race.finish(.success(try await operation(headway)))
            } catch {
                race.finish(.failure(error))
            }
        }
        if let limit, let ticket, let deadline {
            register(ticket, deadline: deadline) {
                race.finish(.failure(TimeLimitReached(limit: limit)))
                work.cancel()
            }
        }
        defer { if let ticket { remove(ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { race.wait($0) }
        } onCancel: {
            race.finish(.failure(CancellationError()))
            work.cancel()
        }
    }

    /// Calls a closure when a time has passed, if that is not called off before.
    /// - Returns: What calls it off.
    func schedule(after limit: Duration, _ expire: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let ticket = makeTicket()
        register(ticket, deadline: time.uptime + limit, expire: expire)
        return { [weak self] in self?.remove(ticket) }
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

    /// The sleeping task is left as it is: it will find nothing due and sleep on.
    private func postpone(_ ticket: Int, by limit: Duration) {
        let deadline = time.uptime + limit
        state.withLock { $0.entries[ticket]?.deadline = deadline }
    }

    private func remove(_ ticket: Int) {
        state.withLock { state in
            state.entries[ticket] = nil
            guard !sleepsOn, state.entries.isEmpty else { return }
            state.sleeper?.cancel()
            state.sleeper = nil
            state.wakesAt = nil
        }
    }

    private func sleep(until deadline: Duration, _ state: inout State) {
        state.sleeper?.cancel()
        state.wakesAt = deadline
        state.sleeper = Task { [weak self, time] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            self?.wake(for: deadline)
        }
    }

    private func wake(for deadline: Duration) {
        let expired = state.withLock { state -> [Entry] in
            // A sleeper that was replaced just before it could be cancelled has nothing to say.
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

/// How an operation tells that it gets on, so that its time limit starts anew.
struct Headway: Sendable {
    let made: @Sendable () -> Void
}

/// An operation did not end within its limit.
struct TimeLimitReached: Error {
    let limit: Duration
}

/// One result for one waiter; whoever comes second is ignored.
private final class Race<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Result<Value, any Error>, Never>)
        case finished(Result<Value, any Error>)
        case taken
    }

    private let state = Locked(State.open)

    func finish(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Result<Value, any Error>, Never>? in
            switch state {
            case .open:
                state = .finished(result)
                return nil
            case .waiting(let continuation):
                state = .taken
                return continuation
            case .finished, .taken:
                return nil
            }
        }
        continuation?.resume(returning: result)
    }

    func wait(_ continuation: CheckedContinuation<Result<Value, any Error>, Never>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            guard case .finished(let result) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .taken
            return result
        }
        if let result { continuation.resume(returning: result) }
    }
}
