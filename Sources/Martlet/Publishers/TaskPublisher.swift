#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        internal import Combine
    #else
        internal import OpenCombine
    #endif

    /// Does something once for each subscriber, in a task of its own that ends with the subscription. All publishers here
    /// stand on it.
    ///
    /// - Nothing happens before somebody subscribes, nor for a subscriber that cancels in `receive(subscription:)`.
    /// - Values, and the end, come from the task: on its executor, one after another, never under a lock, and never from
    ///   within `request(_:)`. A subscriber may ask for more, or cancel, while it receives.
    /// - No value comes without being asked for; the end does, as soon as the work has returned or failed.
    /// - Cancelling lets go of the subscriber and cancels the task. Nothing comes after it, no completion either.
    struct TaskPublisher<Output: Sendable, Failure: Error>: Publisher {
        /// What the task does. It ends well when it returns.
        typealias Work = @Sendable (TaskSubscription<Output, Failure>) async throws(Failure) -> Void

        private let open: () -> Work

        /// - Parameter work: Is done for each subscriber.
        init(_ work: @escaping Work) {
            open = { work }
        }

        /// - Parameter open: Is called where somebody subscribes, for what must not wait until the task runs.
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

    /// One subscriber of a ``TaskPublisher``, what it has asked for, and the task that works for it.
    final class TaskSubscription<Output: Sendable, Failure: Error>: Subscription, Sendable {
        private struct State {
            /// Nobody, when it is over.
            var subscriber: Held?
            var demand = Subscribers.Demand.none
            /// The task, where it waits for demand.
            var waiting: CheckedContinuation<Bool, Never>?
            var task: Task<Void, Never>?
        }

        /// A subscriber on its way into the task.
        ///
        /// `@unchecked Sendable` is right although the subscriber is not: it is called where it subscribes, before there is a
        /// task, and from then on by that task alone (and its child, which it waits for before it goes on), one call after
        /// another. That is what Combine demands of a publisher; on which thread is left to it. `cancel()` does not call
        /// it, and only lets go of it.
        private struct Held: @unchecked Sendable {
            let subscriber: AnySubscriber<Output, Failure>
        }

        private let state: Locked<State>

        init(_ subscriber: AnySubscriber<Output, Failure>) {
            let held = Held(subscriber: subscriber)
            state = Locked(State(subscriber: held))
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
            guard state.withLock({ $0.subscriber != nil }) else { return }
            let work = open()
            let task = Task { await run(work) }
            let isOver = state.withLock { state in
                guard state.subscriber != nil else { return true }
                state.task = task
                return false
            }
            if isOver { task.cancel() }
        }

        private func run(_ work: TaskPublisher<Output, Failure>.Work) async {
            do throws(Failure) {
                try await work(self)
                end().held?.subscriber.receive(completion: .finished)
            } catch {
                end().held?.subscriber.receive(completion: .failure(error))
            }
        }

        /// - Returns: Who is to be told, unless it was over before; it must not be released under the lock.
        private func end() -> (held: Held?, task: Task<Void, Never>?) {
            state.withLock { state in
                defer {
                    state.subscriber = nil
                    state.task = nil
                }
                return (state.subscriber, state.task)
            }
        }
    }

    // MARK: - For the task

    extension TaskSubscription {
        /// Whether the task waits for a value to be asked for.
        var isWaiting: Bool { state.withLock { $0.waiting != nil } }

        /// Hands over a value as soon as it is asked for; drops it where nothing is wanted any more.
        func give(_ value: Output) async {
            guard await isAsked() else { return }
            let held = state.withLock { state in
                if state.subscriber != nil { state.demand -= 1 }
                return state.subscriber
            }
            guard let more = held?.subscriber.receive(value) else { return }
            state.withLock { $0.demand += more }
        }

        /// Hands over what a stream has. Each value is taken out of it when it is asked for: what waits, waits in the
        /// stream, which knows what may be left out.
        func give<Value: Sendable>(
            _ values: AsyncStream<Value>, as output: @Sendable (Value) -> Output
        ) async {
            var iterator = values.makeAsyncIterator()
            while await isAsked(), let value = await iterator.next() { await give(output(value)) }
        }

        /// Waits until a value is asked for.
        /// - Returns: Whether one is; `false` where the subscriber or the task was cancelled.
        private func isAsked() async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let answer = state.withLock { state -> Bool? in
                        // A cancellation from here on finds the continuation.
                        guard state.subscriber != nil, !Task.isCancelled else { return false }
                        guard state.demand == .none else { return true }
                        state.waiting = continuation
                        return nil
                    }
                    if let answer { continuation.resume(returning: answer) }
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
