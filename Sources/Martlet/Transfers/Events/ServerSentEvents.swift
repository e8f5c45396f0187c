internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension NetworkClient {
    /// Receives the events that a server sends over a connection that stays open (`text/event-stream`, WHATWG HTML
    /// standard, section 9.2).
    ///
    /// ```swift
    /// for try await event in client.serverSentEvents(from: Notifications()) {
    ///     show(event.data)
    /// }
    /// ```
    ///
    /// The client connects when the first event is requested, with a token like any other call. All connections belong
    /// to the session that was current when the iteration began; the sequence and an open connection end with that
    /// session. If the connection ends or breaks, the client reconnects after the time that the server has set
    /// (`retry`), or after 3 seconds, and longer after each failure. It sends the id of the last event
    /// (`Last-Event-ID`). It also reconnects if the token cannot be refreshed for now, or if a server that has opened
    /// the stream before refuses a reconnection with 408, 425, 429, 502, 503 or 504, such as 503 during a restart.
    ///
    /// The sequence ends after a 204, or with the connection if it does not reconnect. Any other error ends it and is
    /// thrown: a 404, a 500, a 503 to the first connection after all retries, another content type,
    /// ``NetworkError/sessionChanged(_:)`` after another sign-in, ``NetworkError/signInRequired(_:)`` after a sign-out,
    /// ``NetworkError/sessionExpired(_:_:_:)``, or ``NetworkError/cancelled(_:)`` if the task is cancelled.
    ///
    /// A quiet connection has no time limit. The endpoint's timeout applies only until the head of its response has
    /// arrived; see <doc:UploadsAndDownloads#Configure-the-server-of-a-stream>.
    /// - Parameters:
    ///   - endpoint: The endpoint that sends the events.
    ///   - lastEventID: The id of the last event of an earlier sequence, to continue after it.
    ///   - reconnects: Whether to reconnect. If `false`, the sequence ends with the connection. That of a POST, or of
    ///     any other method that may change something, always does: the server would perform it once more.
    ///   - willReconnect: Called before the sequence waits to connect again: with the error that broke the connection,
    ///     or with `nil` if the server has closed it.
    public func serverSentEvents(
        from endpoint: any Endpoint, lastEventID: String = "", reconnects: Bool = true,
        willReconnect: (@Sendable (NetworkError?) -> Void)? = nil
    ) -> ServerSentEvents {
        ServerSentEvents(
            client: self, endpoint: endpoint, lastEventID: lastEventID,
            reconnects: reconnects && endpoint.method.isSafe, willReconnect: willReconnect)
    }

    /// Receives the events at a path of the API: a GET with the token, if a user is signed in. See
    /// ``serverSentEvents(from:lastEventID:reconnects:willReconnect:)-(Endpoint,_,_,_)``.
    public func serverSentEvents(
        from path: RequestPath, lastEventID: String = "", reconnects: Bool = true,
        willReconnect: (@Sendable (NetworkError?) -> Void)? = nil
    ) -> ServerSentEvents {
        serverSentEvents(
            from: Call<NoContent>.get(path), lastEventID: lastEventID, reconnects: reconnects,
            willReconnect: willReconnect)
    }
}

/// A sequence of events from a server. See
/// ``NetworkClient/serverSentEvents(from:lastEventID:reconnects:willReconnect:)-(Endpoint,_,_,_)``.
///
/// Iterating throws ``NetworkError``.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// The error that iterating throws.
    public typealias Failure = NetworkError

    fileprivate let client: NetworkClient
    fileprivate let endpoint: any Endpoint
    fileprivate let lastEventID: String
    fileprivate let reconnects: Bool
    fileprivate let willReconnect: (@Sendable (NetworkError?) -> Void)?

    /// Starts a pass with a connection of its own, which begins after the `lastEventID` of the sequence.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// One pass over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The standard does not define these values.
        private static let standardDelay: Duration = .seconds(3)
        private static let maximumDelay: Duration = .seconds(60)
        private static let minimumDelay: Duration = .milliseconds(100)
        private static let longestPause: Duration = .seconds(86_400)
        /// Not 500: a server that fails on one `Last-Event-ID` may fail on it forever.
        private static let temporaryRefusals: Set<Int> = [408, 425, 429, 502, 503, 504]

        private let events: ServerSentEvents
        private var parser: EventStreamParser
        private var delay = Self.standardDelay
        private var failures = 0
        private var connection: ResponseBytes.AsyncIterator?
        private var hasConnected = false
        /// Whether the server has opened the stream once, so that the endpoint exists and the user may read it.
        private var hasOpened = false
        /// The time that the server asked clients to wait before the next connection.
        private var pause = Duration.zero
        private var isOver = false
        private var pending: ArraySlice<ServerSentEvent> = []
        /// The session that all connections belong to.
        private var owner: CallOwner
        /// The owner of what the responses of all connections leave behind; `nil` if the client keeps nothing.
        private let responseOwner: ResponseOwner?

        fileprivate init(_ events: ServerSentEvents) {
            self.events = events
            let start = events.client.pipeline.makeStart(events.endpoint.authentication)
            (self.owner, self.responseOwner) = (start.owner, start.responseOwner)
            self.parser = EventStreamParser(lastEventID: events.lastEventID, limit: events.limit)
        }

        /// The next event, or `nil` at the end.
        /// - Throws: ``NetworkError``.
        public mutating func next() async throws(NetworkError) -> ServerSentEvent? {
            while !isOver {
                do {
                    if !pending.isEmpty {
                        try checkSession()
                        return pending.removeFirst()
                    }
                    if parser.exceedsLimit { throw EventStreamParser.TooLargeError() }
                    if connection == nil { try await connect() }
                    guard let piece = try await connection?.next() else {
                        end()
                        continue
                    }
                    pending = parser.read(piece)[...]
                    delay = parser.retry.map { .milliseconds(Swift.min($0, 86_400_000)) } ?? delay
                } catch {
                    try recover(from: error)
                }
            }
            return nil
        }

        /// The next event, or `nil` at the end, for a caller on an actor. A `for try await` loop calls it, and throws
        /// errors of the type ``NetworkError``.
        /// - Throws: ``NetworkError``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(NetworkError) -> ServerSentEvent? {
            // Safe: the caller has exclusive access to the iterator, and waits until the copy comes back.
            nonisolated(unsafe) var iterator = self
            defer { self = iterator }
            return try await iterator.next()
        }

        /// Throws if the session of the stream has ended. Events that have arrived before belong to its user.
        private mutating func checkSession() throws(SessionError) {
            guard let error = events.client.tokens?.endError(for: owner) else { return }
            pending = []
            throw error
        }

        private mutating func connect() async throws {
            if hasConnected {
                let time = events.client.pipeline.time
                // Without a minimum, a server that sets a delay of zero and closes at once would cause a tight loop.
                let first = Swift.max(delay, Self.minimumDelay)
                let longer = Swift.min(first * (1 << Swift.min(failures, 20)), Self.maximumDelay)
                do {
                    try await wait(until: time.uptime + Swift.max(first, longer, pause), time)
                } catch let error as SessionError where error != .cancelled {
                    let failure = NetworkError(error, for: events.call)
                    events.client.pipeline.reportRefusal(failure)
                    throw failure
                }
            }
            pause = .zero
            hasConnected = true
            try await findSession()
            let endpoint = EventStreamEndpoint(base: events.endpoint, lastEventID: parser.lastEventID)
            let start = events.client.pipeline.makeStart(endpoint.authentication, as: owner, leaving: responseOwner)
            let call = OutgoingCall(endpoint, body: endpoint.body, start: start)
            let response: NetworkResponse<ResponseBytes>
            (response, owner) = try await events.client.stream(call, check: events.check)
            guard response.status != 204 else {
                isOver = true
                return
            }
            // Discard an incomplete event of the previous connection.
            parser = EventStreamParser(lastEventID: parser.lastEventID, limit: events.limit)
            connection = response.value.makeAsyncIterator()
            hasOpened = true
            failures = 0
        }

        /// Finds the session of all connections before the first one, if the store had not been read when the iteration
        /// began, or if ``NetworkConfig/automaticSignIn`` starts a session. A failed connection would not report the
        /// session, and the next one must not belong to another session or to none.
        private mutating func findSession() async throws(NetworkError) {
            guard let tokens = events.client.tokens, owner.isBound, owner.session == nil else { return }
            if owner.signInState == .unknown {
                switch await tokens.loadedState {
                case .unavailable(let failure), .unreadable(let failure):
                    let error = NetworkError.storageUnavailable(events.call, failure)
                    events.client.pipeline.reportRefusal(error)
                    throw error
                case .loading, .signedOut, .signedIn, .expired: break
                }
                owner = await tokens.resolved(owner)
            }
            do throws(NetworkError) {
                owner = try await events.client.admit(owner, for: events.endpoint)
            } catch {
                events.client.pipeline.reportRefusal(error)
                throw error
            }
        }

        /// Waits before a reconnection, but no longer than the session lasts.
        private func wait(until deadline: Duration, _ time: any TimeSource) async throws {
            guard owner.isBound, let tokens = events.client.tokens else {
                return try await time.sleep(until: deadline)
            }
            let race = Race<Void>()
            let sleep = Task {
                do {
                    race.finish(.success(try await time.sleep(until: deadline)))
                } catch {
                    race.finish(.failure(error))
                }
            }
            try await tokens.whileCurrent(owner, race, start: {}, onEnd: { sleep.cancel() })
        }

        private mutating func end() {
            connection = nil
            isOver = isOver || !events.reconnects
            if !isOver { events.willReconnect?(nil) }
        }

        /// Reconnects after a transient error, and throws any other error.
        private mutating func recover(from error: any Error) throws(NetworkError) {
            let broken = connection
            connection = nil
            let failure: NetworkError
            if error is EventStreamParser.TooLargeError {
                failure = .responseTooLarge(events.call, limit: events.limit)
                broken?.abandon(because: failure)
            } else {
                failure = ExchangeRunner.wrap(error, call: events.call)
            }
            switch failure {
            case _ where events.reconnects && failure.mayPass:
                failures += 1
                events.willReconnect?(failure)
            case .unacceptableStatus where isRefusedForNow(failure), .api where isRefusedForNow(failure):
                failures += 1
                let clock = events.client.pipeline.time.wallClock
                let asked = failure.response.flatMap { RetryAfter.wait(askedBy: $0.head, deviceClock: clock) }
                pause = Swift.min(asked ?? .zero, Self.longestPause)
                events.willReconnect?(failure)
            case .sessionChanged(let call) where events.client.tokens?.state == .signedOut:
                isOver = true
                throw NetworkError.signInRequired(call)
            default:
                isOver = true
                throw failure
            }
        }

        /// Whether the server refuses a reconnection, and may accept a later one.
        private func isRefusedForNow(_ failure: NetworkError) -> Bool {
            guard events.reconnects, hasOpened, let status = failure.status else { return false }
            return Self.temporaryRefusals.contains(status)
        }
    }

    /// Throws if a response is not a stream of events.
    private func check(_ head: HTTPResponse) throws(NetworkError) {
        guard head.status.code != 204 else { return }
        let type = head.headerFields[.contentType].map(Self.mediaType)
        guard type == "text/event-stream" else {
            throw .invalidResponse(call, reason: "it is \(type ?? "of no type"), not text/event-stream")
        }
        if let reason = ContentCodings(head.headerFields).unsupportedReason {
            throw .invalidResponse(call, reason: reason)
        }
    }

    /// The media type without parameters and the white space before them (RFC 9110, section 5.6.6).
    private static func mediaType(of field: String) -> String {
        var type = field.prefix { $0 != ";" }[...]
        type = type.drop { $0 == " " || $0 == "\t" }
        while let last = type.last, last == " " || last == "\t" { type.removeLast() }
        return type.lowercased()
    }

    private var limit: Int { client.config.maximumResponseBytes }

    private var call: CallDescription { CallDescription(endpoint, attempts: 1) }
}

/// Adds the header fields of an event stream to an endpoint.
private struct EventStreamEndpoint: EndpointExtension {
    let base: any Endpoint
    let lastEventID: String

    var path: RequestPath { base.path }
    var method: HTTPRequest.Method { base.method }
    var query: Query { base.query }
    var body: RequestBody? { base.body }
    var authentication: AuthenticationRequirement { base.authentication }
    /// A 204 ends the events.
    var acceptableStatuses: StatusCodes { base.acceptableStatuses.adding(204) }
    var timeout: Duration? { base.timeout }
    var connectivityTimeout: Duration? { base.connectivityTimeout }
    var allowsRefresh: Bool { base.allowsRefresh }

    var headers: HTTPFields {
        var headers = base.headers
        if headers[.accept] == nil { headers[.accept] = "text/event-stream" }
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        if !lastEventID.isEmpty, let name = HTTPField.Name("Last-Event-ID") { headers[name] = lastEventID }
        return headers
    }
}

extension NetworkError {
    /// Whether the next connection of an event stream may succeed.
    fileprivate var mayPass: Bool {
        switch self {
        // Without a network, an expired token cannot be refreshed either. The session is kept.
        case .offline, .cannotConnect, .connectionLost, .timedOut, .refreshFailed: true
        case .storageUnavailable(_, let error): error.kind.isTransient
        default: false
        }
    }
}
