#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif
    import Martlet

    @testable import MartletCombine

    /// A subscriber that records what it receives, with demand controlled by the test.
    ///
    /// `@unchecked Sendable`: the lock guards the subscription, which may be used on any thread.
    final class Recorder<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {
        typealias Reaction = (Recorder, Input) -> Subscribers.Demand

        /// The events that the subscriber has received so far.
        private struct State {
            var subscription: (any Subscription)?
            var values: [Input] = []
            var completions: [Subscribers.Completion<Failure>] = []
            /// The number of events received during another one or after the completion.
            var disorder = 0
            var isReceiving = false
        }

        /// Carries a subscription across the lock.
        private struct Held: @unchecked Sendable {
            let subscription: (any Subscription)?
        }

        private let state = Locked(State())
        private let first: Subscribers.Demand
        private let cancelsAtOnce: Bool
        private let reaction: Reaction

        /// - Parameters:
        ///   - first: The initial demand.
        ///   - cancelsAtOnce: Whether to cancel immediately after subscribing.
        ///   - reaction: Called with each value; returns the additional demand.
        init(
            _ first: Subscribers.Demand = .unlimited, cancelsAtOnce: Bool = false,
            reaction: @escaping Reaction = { _, _ in .none }
        ) {
            self.first = first
            self.cancelsAtOnce = cancelsAtOnce
            self.reaction = reaction
        }

        /// The values received so far, after `reaction` returned.
        var values: [Input] { state.withLock { $0.values } }
        /// The number of events that arrived at the wrong time.
        var disorder: Int { state.withLock { $0.disorder } }
        var isOver: Bool { state.withLock { !$0.completions.isEmpty } }
        var isFinished: Bool {
            state.withLock { if $0.completions.count == 1, case .finished = $0.completions[0] { true } else { false } }
        }
        var failure: Failure? {
            state.withLock { if case .failure(let error) = $0.completions.first { error } else { nil } }
        }

        /// Whether the subscription has a value that waits for demand.
        var needsDemand: Bool {
            state.withLock { ($0.subscription as? TaskSubscription<Input, Failure>)?.isWaiting ?? false }
        }

        func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }
        func cancel() { subscription?.cancel() }

        private var subscription: (any Subscription)? {
            let held = state.withLock { Held(subscription: $0.subscription) }
            return held.subscription
        }

        func receive(subscription: any Subscription) {
            let held = Held(subscription: subscription)
            state.withLock { $0.subscription = held.subscription }
            if cancelsAtOnce { subscription.cancel() }
            subscription.request(first)
        }

        func receive(_ input: Input) -> Subscribers.Demand {
            state.withLock { state in
                if state.isReceiving || !state.completions.isEmpty { state.disorder += 1 }
                state.isReceiving = true
            }
            let more = reaction(self, input)
            state.withLock { state in
                state.isReceiving = false
                state.values.append(input)
            }
            return more
        }

        func receive(completion: Subscribers.Completion<Failure>) {
            state.withLock { state in
                if state.isReceiving || !state.completions.isEmpty { state.disorder += 1 }
                state.completions.append(completion)
                state.subscription = nil
            }
        }

        /// Waits for `count` values or the completion.
        func waitForValues(_ count: Int) async {
            while values.count < count, !isOver { await Task.yield() }
        }

        /// Waits until the next value waits for demand, or more than `count` values or the completion have arrived.
        func waitUntilDemandIsNeeded(after count: Int = 0) async {
            while !needsDemand, values.count <= count, !isOver { await Task.yield() }
        }

        /// Waits until the subscription is deallocated, so that no more events can arrive.
        func waitUntilReleased() async {
            weak var remaining: TaskSubscription<Input, Failure>?
            remaining = subscription as? TaskSubscription<Input, Failure>
            state.withLock { $0.subscription = nil }
            while remaining != nil { await Task.yield() }
        }

        /// Waits for the completion.
        func waitForEnd() async {
            while !isOver { await Task.yield() }
        }
    }

    extension Publisher where Output: Sendable {
        /// Subscribes a recorder.
        func record(
            _ first: Subscribers.Demand = .unlimited, cancelsAtOnce: Bool = false,
            reaction: @escaping Recorder<Output, Failure>.Reaction = { _, _ in .none }
        ) -> Recorder<Output, Failure> {
            let recorder = Recorder(first, cancelsAtOnce: cancelsAtOnce, reaction: reaction)
            subscribe(recorder)
            return recorder
        }
    }
#endif
