public import Martlet

extension StubTransport {
    /// What is answered to some requests: the answers in the order in which they were said, each once, the last again and
    /// again.
    ///
    /// ```swift
    /// let feed = transport.when(Feed())
    /// feed.fail(with: .connectionLost("reset")).answer(.status(503)).wait(.seconds(2)).answer(.json(items))
    /// // …
    /// #expect(feed.requests.count == 3)
    /// ```
    public final class Route: Sendable, CustomStringConvertible {
        /// Which requests they are: `GET /articles?page=2`.
        public let description: String
        let matches: @Sendable (Request) -> Bool
        private let answers = AnswerList<(any TimeSource)?, Handler>()
        private let seen = Guarded<[Request]>([])

        init(_ description: String, _ matches: @escaping @Sendable (Request) -> Bool) {
            self.description = description
            self.matches = matches
        }

        /// The requests that have come here so far.
        public var requests: [Request] { seen.withLock { $0 } }

        /// Answers the next one.
        @discardableResult
        public func answer(_ answer: Answer) -> Route {
            self.answer { _ in answer }
        }

        /// Answers the next one as the closure says; it may wait, and may throw what a transport throws.
        @discardableResult
        public func answer(_ handler: @escaping Handler) -> Route {
            answers.append(handler)
            return self
        }

        /// Gives the next one no answer.
        @discardableResult
        public func fail(with error: TransportError) -> Route {
            answer(.failure(error))
        }

        /// Lets the answer that is said next take its time, by the transport's clock. It takes none in truth: who tests
        /// advances the clock.
        public func wait(_ duration: Duration) -> Route {
            answers.pause { [description] time in
                guard let time else {
                    throw UnexpectedRequest(
                        description, matching: description, lacks: "no clock to wait by: give the stub one")
                }
                try await time.sleep(until: time.uptime + duration)
            }
            return self
        }

        /// Holds the answer that is said next until a gate is opened. A request that is cancelled does not wait.
        public func hold(at gate: Gate) -> Route {
            answers.pause { _ in try await gate.passUnlessCancelled() }
            return self
        }

        func answer(to request: Request, _ time: (any TimeSource)?) async throws -> Answer {
            seen.withLock { $0.append(request) }
            guard let turn = answers.next() else {
                throw UnexpectedRequest(request.description, matching: description, lacks: "none")
            }
            for pause in turn.pauses { try await pause(time) }
            return try await turn.answer(request)
        }
    }
}
