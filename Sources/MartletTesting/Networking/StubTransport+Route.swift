public import Martlet

extension StubTransport {
    /// The responses to matching requests, in the order in which the test adds them. Each response is used once, the
    /// last one repeatedly.
    ///
    /// ```swift
    /// let feed = transport.when(Feed())
    /// feed.fail(with: .connectionLost("reset")).respond(.status(503)).wait(.seconds(2)).respond(.json(items))
    /// // …
    /// #expect(feed.requests.count == 3)
    /// ```
    public final class Route: Sendable, CustomStringConvertible {
        /// The requests that the route matches: `GET /articles?page=2`.
        public let description: String
        let matches: @Sendable (Request) -> Bool
        private let responses = ResponseSequence<(any TimeSource)?, Handler>()
        private let received = Locked<[Request]>([])

        init(_ description: String, _ matches: @escaping @Sendable (Request) -> Bool) {
            self.description = description
            self.matches = matches
        }

        /// The requests that the route has received so far.
        public var requests: [Request] { received.withLock { $0 } }

        /// Adds a response.
        @discardableResult
        public func respond(_ response: Response) -> Route {
            respond { _ in response }
        }

        /// Adds a response that a closure makes. The closure may suspend, and may throw a `TransportError`.
        @discardableResult
        public func respond(_ handler: @escaping Handler) -> Route {
            responses.append(handler)
            return self
        }

        /// Adds a failure without a response.
        @discardableResult
        public func fail(with error: TransportError) -> Route {
            respond(.failure(error))
        }

        /// Delays the response that is added next, on the stub's clock. With a ``ManualTimeSource``, the response
        /// arrives when the test advances the clock.
        public func wait(_ duration: Duration) -> Route {
            responses.pause { [description] time in
                guard let time else {
                    throw UnexpectedRequestError(
                        description, route: description,
                        reason: "wait(_:) needs a clock; pass one to StubTransport(time:)")
                }
                try await time.sleep(until: time.uptime + duration)
            }
            return self
        }

        /// Holds the response that is added next until a gate is opened. Cancelling the request ends the wait.
        public func hold(at gate: Gate) -> Route {
            responses.pause { _ in try await gate.passUnlessCancelled() }
            return self
        }

        func respond(to request: Request, _ time: (any TimeSource)?) async throws -> Response {
            received.withLock { $0.append(request) }
            guard let entry = responses.next() else {
                throw UnexpectedRequestError(
                    request.description, route: description, reason: "it has no response; add one with respond(_:)")
            }
            for pause in entry.pauses { try await pause(time) }
            return try await entry.response(request)
        }
    }
}
