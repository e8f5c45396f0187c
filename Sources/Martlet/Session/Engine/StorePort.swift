/// Reads and changes the manager's ``TokenStore``. Operations run one at a time, in order, and each is answered once,
/// within the time limit, or two seconds later if the device has slept.
///
/// The order matters: a write that was requested before a sign-out must run before the deletion, never after it. An
/// operation that is not done in time is reported as failed. It still keeps its turn until it ends, because its old
/// record could otherwise overwrite a newer one. Its result is then reported as late.
final class StorePort: Sendable {
    enum Access: Sendable {
        case read
        case update(@Sendable (StoreReading) -> StoreUpdate)
    }

    struct Answer: Hashable, Sendable {
        /// The content of the store before the operation.
        var reading: StoreReading
        /// The reason why an update failed, or why there was no answer in time.
        var failure: StorageError?
        /// The content of the store now, as far as it is known.
        var content: StoreReading

        init(_ failure: StorageError, reading: StoreReading? = nil) {
            self.reading = reading ?? .unavailable(failure)
            self.failure = failure
            content = .unavailable(failure)
        }

        init(_ reading: StoreReading, _ update: StoreUpdate = .keep) {
            self.reading = reading
            self.content =
                switch update {
                case .keep: reading
                case .write(let record): .found(record)
                case .delete: .empty
                case .end(let mark): .ended(mark)
                // Reading the content has failed, so it stays unknown.
                case .mark: reading
                }
        }
    }

    private let store: any TokenStore
    private let timeout: Duration
    private let limits: TimeLimits
    private let queue = SerialQueue()

    init(_ store: any TokenStore, timeout: Duration, time: any TimeSource) {
        self.store = store
        self.timeout = timeout
        self.limits = TimeLimits(time: time, keepsSleeper: false)
    }

    /// Adds an operation. It never blocks, so it may be called with a lock held.
    /// - Parameters:
    ///   - access: Called when the turn of the operation comes; `isLate` says whether it has been reported as failed.
    ///     If it returns `nil`, nothing is left to do, and nothing more is reported.
    ///   - answer: Called once, before the next operation starts or when the time limit expires.
    ///   - late: Called when an operation ends that was reported as failed.
    func submit(
        _ access: @escaping @Sendable (_ isLate: Bool) -> Access?, answer: @escaping @Sendable (Answer) -> Void,
        late: @escaping @Sendable (Answer) -> Void
    ) {
        queue.add { [self] turn in
            let isAnswered = Locked(false)
            @Sendable func answersFirst() -> Bool {
                isAnswered.withLock { isAnswered in
                    defer { isAnswered = true }
                    return !isAnswered
                }
            }
            let stopTimer = limits.schedule(after: timeout, graceAfterSleep: TimeLimits.wakeGrace) { [timeout] in
                guard answersFirst() else { return }
                let limit = timeout.inSeconds.shortText
                answer(Answer(StorageError(.unreachable, "the store did not respond within \(limit) s")))
            }
            await turn()
            guard let access = access(isAnswered.withLock { $0 }) else { return stopTimer() }
            let result = await perform(access)
            stopTimer()
            if answersFirst() { answer(result) } else { late(result) }
        }
    }

    /// Returns when all operations that were added before have ended, however long they take.
    func flush() async {
        await queue.flush()
    }

    /// Raises the priority of all operations that were added before, because a caller waits for them.
    func escalate(to priority: TaskPriority) {
        queue.escalate(to: priority)
    }

    private func perform(_ access: Access) async -> Answer {
        guard case .update(let decide) = access else { return Answer(await store.read()) }
        // A store may start its transaction over and call the closure again.
        let last = Locked<(reading: StoreReading, update: StoreUpdate)?>(nil)
        do {
            _ = try await store.update { reading in
                let update = decide(reading)
                last.withLock { $0 = (reading, update) }
                return update
            }
            guard let last = last.withLock({ $0 }) else { return Answer(.noDecision) }
            return Answer(last.reading, last.update)
        } catch {
            let failure = StorageError(wrapping: error)
            return Answer(failure, reading: last.withLock { $0?.reading })
        }
    }
}

extension StorageError {
    init(wrapping error: any Error) {
        self = error as? StorageError ?? StorageError(.unreachable, Redaction.redact(String(describing: error)))
    }

    fileprivate static let noDecision = StorageError(.unreachable, "the store's update did not ask what to write")
}
