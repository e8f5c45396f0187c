#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif
    @testable import Martlet

    /// Writes down what a publisher tells it, and asks for what the test says.
    ///
    /// `@unchecked Sendable`: a subscription may be asked and cancelled on any thread, and stands behind the lock.
    final class Recorder<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {
        typealias Reaction = (Recorder, Input) -> Subscribers.Demand

        private struct State {
            var subscription: (any Subscription)?
            var values: [Input] = []
            var completions: [Subscribers.Completion<Failure>] = []
            /// What came when a value was still being received, or after the end.
            var disorder = 0
            var isReceiving = false
        }

        /// A subscription on its way out of the lock, and in.
        private struct Held: @unchecked Sendable {
            let subscription: (any Subscription)?
        }

        private let state = Locked(State())
        private let first: Subscribers.Demand
        private let cancelsAtOnce: Bool
        private let reaction: Reaction

        /// - Parameters:
        ///   - first: What it asks for when it subscribes.
        ///   - cancelsAtOnce: Whether it cancels when it subscribes.
        ///   - reaction: What it does with each value, and how many more it asks for.
        init(
            _ first: Subscribers.Demand = .unlimited, cancelsAtOnce: Bool = false,
            reaction: @escaping Reaction = { _, _ in .none }
        ) {
            self.first = first
            self.cancelsAtOnce = cancelsAtOnce
            self.reaction = reaction
        }

        /// What it has received, and reacted to.
        var values: [Input] { state.withLock { $0.values } }
        /// How often it was told something at the wrong time.
        var disorder: Int { state.withLock { $0.disorder } }
        var isOver: Bool { state.withLock { !$0.completions.isEmpty } }
        var isFinished: Bool {
            state.withLock { if $0.completions.count == 1, case .finished = $0.completions[0] { true } else { false } }
        }
        var failure: Failure? {
            state.withLock { if case .failure(let error) = $0.completions.first { error } else { nil } }
        }

        /// Whether what its subscription has to give waits for being asked for.
        var isAwaited: Bool {
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

        /// Returns when that many values have come, or the end.
        func waitForValues(_ count: Int) async {
            while values.count < count, !isOver { await Task.yield() }
        }

        /// Returns when the next value waits, or has come without being asked for, or the end has.
        func waitUntilAwaited(after count: Int = 0) async {
            while !isAwaited, values.count <= count, !isOver { await Task.yield() }
        }

        /// Returns when whoever could still tell something is gone.
        func waitForSilence() async {
            weak var teller: TaskSubscription<Input, Failure>?
            teller = subscription as? TaskSubscription<Input, Failure>
            state.withLock { $0.subscription = nil }
            while teller != nil { await Task.yield() }
        }

        /// Returns when the end has come.
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
