#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif

    extension TokenManager {
        /// The state as it is now, then each further one.
        ///
        /// ```swift
        /// tokens.statePublisher
        ///     .receive(on: DispatchQueue.main)
        ///     .sink { state in router.show(state) }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// Each subscriber listens to ``states`` for itself, with all that is said there: subscribing reads the store, if
        /// nothing has yet, and a subscriber that asks for less than there is misses all but the newest 16. It comes to an
        /// end with the manager, which a subscription does not keep alive; who has asked for nothing more learns of that when it
        /// asks again.
        public var statePublisher: AnyPublisher<SessionState, Never> {
            publisher { $0.states }
        }

        /// Every step from the subscription on, for logs, metrics and tests.
        ///
        /// Each subscriber listens to ``events`` for itself: 1,024 of them wait for one that does not ask, then the oldest are
        /// left out. It comes to an end with the manager, as ``statePublisher`` does.
        public var eventPublisher: AnyPublisher<SessionEvent, Never> {
            publisher { $0.events }
        }

        private func publisher<Value: Sendable>(
            of stream: @escaping (TokenManager) -> AsyncStream<Value>
        ) -> AnyPublisher<Value, Never> {
            TaskPublisher<Value, Never>(opening: {
                // Here and not in the task, or what happens before it runs would be missed.
                let values = stream(self)
                return { subscription in await subscription.give(values) { $0 } }
            })
            .eraseToAnyPublisher()
        }
    }
#endif
