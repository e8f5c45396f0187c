#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        internal import Combine
    #else
        internal import OpenCombine
    #endif
    internal import Martlet

    /// Runs work once for each subscriber, in a task that ends with the subscription. All publishers here are built on
    /// it.
    ///
    /// - Nothing happens before a subscription, or if the subscriber cancels in `receive(subscription:)`.
    /// - Values and completions are delivered by the task, one after another, never while a lock is held, and never
    ///   from within `request(_:)`. A subscriber may request more or cancel while it receives.
    /// - Values are delivered on demand only; the completion is delivered as soon as the work has returned or failed.
    /// - Cancelling releases the subscriber and cancels the task. Nothing is delivered afterwards, not even a
    ///   completion.
    struct TaskPublisher<Output: Sendable, Failure: Error>: Publisher {
        /// The work of the task. The publisher finishes when it returns.
        typealias Work = @Sendable (TaskSubscription<Output, Failure>) async throws(Failure) -> Void

        private let open: () -> Work

        /// - Parameter work: Runs for each subscriber.
        init(_ work: @escaping Work) {
            open = { work }
        }

        /// - Parameter open: Called at the subscription, for work that must not wait until the task runs.
        init(opening open: @escaping () -> Work) {
            self.open = open
        }

        func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            let subscription = TaskSubscription<Output, Failure>(AnySubscriber(subscriber))
            subscriber.receive(subscription: subscription)
            subscription.start(open)
        }
    }

    /// The subscription of one subscriber to a ``TaskPublisher``: its demand, and its task.
    final class TaskSubscription<Output: Sendable, Failure: Error>: Subscription, Sendable {
        /// The subscriber, its demand and the task that serves it.
        private struct State {
            /// `nil` after the end.
            var box: SubscriberBox?
            var demand = Subscribers.Demand.none
            /// The task, if it waits for demand.
            var waiting: CheckedContinuation<Bool, Never>?
            var task: Task<Void, Never>?
        }

        /// Passes a subscriber into the task.
        ///
        /// `@unchecked Sendable` is right although a subscriber is not `Sendable`. It is called at the subscription,
        /// before the task exists, and then only by that task (and its child, which the task waits for), one call after
        /// another. Combine requires that of a publisher, and leaves the thread to it. `cancel()` does not call the
        /// subscriber; it only releases it.
        private struct SubscriberBox: @unchecked Sendable {
            let subscriber: AnySubscriber<Output, Failure>
        }

        private let state: Locked<State>

        init(_ subscriber: AnySubscriber<Output, Failure>) {
            let box = SubscriberBox(subscriber: subscriber)
            state = Locked(State(box: box))
        }

        func request(_ demand: Subscribers.Demand) {
            let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                state.demand += demand
                guard state.demand > .none else { return nil }
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: true)
        }

        func cancel() {
            end().task?.cancel()
        }

        fileprivate func start(_ open: () -> TaskPublisher<Output, Failure>.Work) {
            guard state.withLock({ $0.box != nil }) else { return }
            let work = open()
            let task = Task { await run(work) }
            let hasEnded = state.withLock { state in
                guard state.box != nil else { return true }
                state.task = task
                return false
            }
            if hasEnded { task.cancel() }
        }

        private func run(_ work: TaskPublisher<Output, Failure>.Work) async {
            do throws(Failure) {
                try await work(self)
                end().box?.subscriber.receive(completion: .finished)
            } catch {
                end().box?.subscriber.receive(completion: .failure(error))
            }
        }

        /// - Returns: The subscriber, unless the subscription has already ended. It must be released without the lock.
        private func end() -> (box: SubscriberBox?, task: Task<Void, Never>?) {
            state.withLock { state in
                defer {
                    state.box = nil
                    state.task = nil
                }
                return (state.box, state.task)
            }
        }
    }

    // MARK: - For the task

    extension TaskSubscription {
        var isWaiting: Bool { state.withLock { $0.waiting != nil } }

        /// Delivers a value on demand, or drops it after the end.
        func send(_ value: Output) async {
            guard await waitForDemand() else { return }
            let box = state.withLock { state in
                if state.box != nil { state.demand -= 1 }
                return state.box
            }
            guard let more = box?.subscriber.receive(value) else { return }
            state.withLock { $0.demand += more }
        }

        /// Delivers the values of a stream. Each value is taken from the stream on demand, so that the stream decides
        /// what to buffer and what to drop.
        func send<Value: Sendable>(
            _ values: AsyncStream<Value>, as output: @Sendable (Value) -> Output
        ) async {
            var iterator = values.makeAsyncIterator()
            while await waitForDemand(), let value = await iterator.next() { await send(output(value)) }
        }

        /// Waits for demand.
        /// - Returns: `false` if the subscriber or the task was cancelled.
        private func waitForDemand() async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let response = state.withLock { state -> Bool? in
                        // A cancellation after this check finds the continuation.
                        guard state.box != nil, !Task.isCancelled else { return false }
                        guard state.demand == .none else { return true }
                        state.waiting = continuation
                        return nil
                    }
                    if let response { continuation.resume(returning: response) }
                }
            } onCancel: {
                let waiting = state.withLock { state in
                    defer { state.waiting = nil }
                    return state.waiting
                }
                waiting?.resume(returning: false)
            }
        }
    }
#endif
