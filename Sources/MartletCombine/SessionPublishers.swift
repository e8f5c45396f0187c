#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif
    public import Martlet

    extension TokenManager {
        /// The current state, then each change.
        ///
        /// ```swift
        /// tokens.statePublisher
        ///     .receive(on: DispatchQueue.main)
        ///     .sink { state in router.show(state) }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// Each subscriber has its own subscription to `states`. Subscribing loads the stored session if that has not
        /// happened yet. A subscriber with too little demand receives only the newest 16 states. The publisher finishes
        /// when the manager is released; a subscription does not retain it. A subscriber without demand learns of the
        /// end when it requests more.
        public var statePublisher: AnyPublisher<SessionState, Never> {
            publisher { $0.states }
        }

        /// Every event after subscribing, for logs, metrics and tests.
        ///
        /// Each subscriber has its own subscription to `events`, with a buffer of 1,024 events. If the buffer is full,
        /// the oldest events are dropped. The publisher finishes when the manager is released, like `statePublisher`.
        public var eventPublisher: AnyPublisher<SessionEvent, Never> {
            publisher { $0.events }
        }

        private func publisher<Value: Sendable>(
            of stream: @escaping (TokenManager) -> AsyncStream<Value>
        ) -> AnyPublisher<Value, Never> {
            TaskPublisher<Value, Never>(opening: {
                // Subscribe now, not in the task: events before the task starts would be missed.
                let values = stream(self)
                return { subscription in await subscription.send(values) { $0 } }
            })
            .eraseToAnyPublisher()
        }
    }
#endif
