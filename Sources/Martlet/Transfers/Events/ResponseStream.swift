internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension NetworkClient {
    /// Sends an endpoint, and returns its response when the head has arrived. The body is then read as a stream.
    ///
    /// ```swift
    /// let log = try await client.stream(BuildLog(id: 7))
    /// for try await piece in log.value { … }
    /// ```
    ///
    /// The client reads from the network only as fast as the caller iterates, except over `URLSession` on Linux, which
    /// buffers the unread part. Releasing the stream ends the exchange. The stream also ends with the session that the
    /// call belongs to. The timeout applies until the head has arrived; the stream itself has no time limit. Apple's
    /// `URLSession` withholds the head of some responses until 512 bytes have arrived
    /// (<doc:UploadsAndDownloads#Configure-the-server-of-a-stream>). Until its end, the stream counts against
    /// ``NetworkConfig/maximumConcurrentRequests``.
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - monitor: Reports the progress of the response.
    /// - Throws: ``NetworkError``. If the status is not acceptable, the error contains the complete response.
    public func stream(
        _ endpoint: any Endpoint, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<ResponseBytes> {
        try await stream(pipeline.makeCall(endpoint, monitor: monitor)).response
    }

    /// Streams the response at a path of the API: a GET with the token, if a user is signed in. See
    /// ``stream(_:monitor:)-(Endpoint,_)``.
    public func stream(
        _ path: RequestPath, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<ResponseBytes> {
        try await stream(Call<NoContent>.get(path), monitor: monitor)
    }

    /// - Parameter check: Throws if the head of the response is not acceptable.
    /// - Returns: The response, and the owner of the call.
    func stream(
        _ call: OutgoingCall, check: (HTTPResponse) throws(NetworkError) -> Void = { _ in }
    ) async throws(NetworkError) -> (response: NetworkResponse<ResponseBytes>, owner: CallOwner) {
        let receiver = StreamReceiver(tokens: tokens)
        var call = call
        call.receiver = receiver
        let completed = try await perform(call)
        let body = receiver.takeBody()
        try completed.deliver { call throws(NetworkError) in try check(call.head) }
        let bytes = ResponseBytes(body, of: completed.context.call, reportingTo: completed.report)
        return (NetworkResponse(bytes, of: completed), completed.owner)
    }
}

/// Keeps the body of a response for the caller, who reads it after the call has returned.
private final class StreamReceiver: ResponseReceiver {
    let outlivesCall = true
    private let tokens: TokenManager?
    private let body = Locked(ByteStream.empty)

    init(tokens: TokenManager?) {
        self.tokens = tokens
    }

    func takeBody() -> ByteStream {
        body.withLock { body in
            defer { body = .empty }
            return body
        }
    }

    let attempt = 0

    func addFields(to request: inout HTTPRequest) {}

    func checkCredentials(
        _ credentials: @autoclosure () -> [HTTPField], inPlaceOfToken: @autoclosure () -> [HTTPField],
        url: @autoclosure () -> String
    ) {}

    func accepts(_ head: HTTPResponse, for endpoint: any Endpoint) -> Bool {
        endpoint.acceptableStatuses.contains(head.status.code)
    }

    func withdrawFields(after failure: NetworkError) -> Bool { false }

    func receive(_ response: IncomingResponse) async throws {
        let exchange = Exchange(response)
        let total = response.head.headerFields[.contentLength].flatMap { Int64($0) }
        let counted = response.body.counted(of: total, response.progress)
        let stream = ByteStream.singlePass { [tokens] in
            let next: () async throws -> Data?
            if let tokens, response.owner.isBound {
                let body = SessionBoundBody(counted, tokens: tokens, owner: response.owner)
                next = { try await body.next() }
            } else {
                let iterator = counted.makeAsyncIterator()
                next = { try await iterator.next() }
            }
            return {
                do {
                    if let piece = try await next() { return piece }
                } catch {
                    exchange.end()
                    throw error
                }
                exchange.end()
                return nil
            }
        }
        body.withLock { $0 = stream }
    }

    func finish(_ head: HTTPResponse) async throws {}

    /// Holds the request slot until the body has been read or is released. Then the monitor's events end as well.
    private final class Exchange: Sendable {
        private struct Held {
            let slot: RequestSlot?
            let finish: @Sendable () -> Void
        }

        private let held: Locked<Held?>

        init(_ response: IncomingResponse) {
            held = Locked(Held(slot: response.slot, finish: response.finish))
        }

        deinit { end() }

        /// Has an effect only once: after that, the monitor may already belong to another call.
        func end() {
            // Released outside the lock, because the next call that gets the slot may call this function.
            let held = held.withLock { held in
                defer { held = nil }
                return held
            }
            held?.finish()
        }
    }
}
