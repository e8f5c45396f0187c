internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension NetworkClient {
    /// The events that a server sends over a connection that stays open (`text/event-stream`, WHATWG's HTML standard, section
    /// 9.2).
    ///
    /// ```swift
    /// for try await event in client.serverSentEvents(from: Notifications()) {
    ///     show(event.data)
    /// }
    /// ```
    ///
    /// The connection is made when the first event is asked for, with a token like any other call. One that ends or breaks
    /// is made again after the time that the server asked for (`retry`), 3 seconds where it did not, and longer each time
    /// that fails; the server is told the last event that came (`Last-Event-ID`). A token that cannot be renewed for now ends
    /// nothing either. The sequence ends with a 204; in a task that is cancelled it fails with
    /// ``NetworkError/cancelled(_:)``.
    /// - Parameters:
    ///   - endpoint: Where the events come from.
    ///   - lastEventID: The last event that an earlier sequence gave, to go on after it.
    ///   - reconnects: Whether a connection that ends is made again; without that, the sequence ends with it.
    public func serverSentEvents(
        from endpoint: any Endpoint, lastEventID: String = "", reconnects: Bool = true
    ) -> ServerSentEvents {
        ServerSentEvents(client: self, endpoint: endpoint, lastEventID: lastEventID, reconnects: reconnects)
    }
}

/// The events that a server sends. See ``NetworkClient/serverSentEvents(from:lastEventID:reconnects:)``.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// What the server sends.
    public typealias Element = ServerSentEvent

    fileprivate let client: NetworkClient
    fileprivate let endpoint: any Endpoint
    fileprivate let lastEventID: String
    fileprivate let reconnects: Bool

    /// Starts anew, after ``NetworkClient/serverSentEvents(from:lastEventID:reconnects:)``'s last event.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// One pass over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The standard leaves these to the reader.
        private static let standardDelay: Duration = .seconds(3)
        private static let maximumDelay: Duration = .seconds(60)
        private static let minimumDelay: Duration = .milliseconds(100)

        private let events: ServerSentEvents
        private var parser: EventStreamParser
        private var delay = Self.standardDelay
        private var failures = 0
        private var connection: ByteStream.AsyncIterator?
        private var hasConnected = false
        private var isOver = false
        private var pending: ArraySlice<ServerSentEvent> = []

        fileprivate init(_ events: ServerSentEvents) {
            self.events = events
            self.parser = EventStreamParser(lastEventID: events.lastEventID, limit: events.limit)
        }

        /// The next event, or `nil` where there will be none.
        /// - Throws: ``NetworkError``.
        public mutating func next() async throws -> ServerSentEvent? {
            while !isOver {
                if let event = pending.popFirst() { return event }
                do {
                    if parser.isFull { throw EventStreamParser.TooLarge() }
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

        private mutating func connect() async throws {
            if hasConnected {
                let time = events.client.pipeline.time
                // A server that asks for no wait at all, and hangs up at once, would be called without end.
                let first = Swift.max(delay, Self.minimumDelay)
                let longer = Swift.min(first * (1 << Swift.min(failures, 20)), Self.maximumDelay)
                try await time.sleep(until: time.uptime + Swift.max(first, longer))
            }
            hasConnected = true
            let endpoint = EventStreamEndpoint(base: events.endpoint, lastEventID: parser.lastEventID)
            let answer = try await events.client.stream(endpoint)
            guard answer.status != 204 else {
                isOver = true
                return
            }
            let type = answer.headers[.contentType].map(Self.mediaType)
            guard type == "text/event-stream" else {
                throw NetworkError.invalidResponse(
                    events.call, reason: "it is \(type ?? "of no type"), not text/event-stream")
            }
            // What a broken connection had begun is not an event.
            parser = EventStreamParser(lastEventID: parser.lastEventID, limit: events.limit)
            connection = answer.value.makeAsyncIterator()
            failures = 0
        }

        /// The type without its parameters, before which white space may stand (RFC 9110, section 5.6.6).
        private static func mediaType(of field: String) -> String {
            var type = field.prefix { $0 != ";" }[...]
            type = type.drop { $0 == " " || $0 == "\t" }
            while let last = type.last, last == " " || last == "\t" { type.removeLast() }
            return type.lowercased()
        }

        private mutating func end() {
            connection = nil
            isOver = isOver || !events.reconnects
        }

        /// A connection that broke is made again; whatever else went wrong would go wrong again.
        private mutating func recover(from error: any Error) throws {
            connection = nil
            let failure =
                error is EventStreamParser.TooLarge
                ? .responseTooLarge(events.call, limit: events.limit) : AttemptRunner.wrap(error, call: events.call)
            switch failure {
            case .offline where events.reconnects, .cannotConnect where events.reconnects,
                .connectionLost where events.reconnects, .timedOut where events.reconnects,
                // The session is kept: without a network a token that ran out meanwhile cannot be renewed either.
                .refreshFailed where events.reconnects, .storageUnavailable where events.reconnects:
                failures += 1
            default:
                isOver = true
                throw failure
            }
        }
    }

    private var limit: Int { client.config.maximumResponseBytes }

    private var call: FailedCall {
        FailedCall(method: endpoint.method.rawValue, url: Redaction.redact(endpoint.path), attempts: 1)
    }
}

/// An endpoint with what a stream of events asks for.
private struct EventStreamEndpoint: Endpoint {
    let base: any Endpoint
    let lastEventID: String

    var path: String { base.path }
    var method: HTTPRequest.Method { base.method }
    var query: Query { base.query }
    var body: RequestBody? { base.body }
    var authentication: AuthenticationRequirement { base.authentication }
    var acceptableStatuses: StatusCodes { base.acceptableStatuses }
    var timeout: Duration? { base.timeout }

    var headers: HTTPFields {
        var headers = base.headers
        if headers[.accept] == nil { headers[.accept] = "text/event-stream" }
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        if !lastEventID.isEmpty, let name = HTTPField.Name("Last-Event-ID") { headers[name] = lastEventID }
        return headers
    }
}
