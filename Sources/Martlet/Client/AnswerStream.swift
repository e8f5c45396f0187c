internal import HTTPTypes

extension NetworkClient {
    /// Sends an endpoint and returns as soon as the answer's head is there; its body is then read piece by piece.
    ///
    /// ```swift
    /// let log = try await client.stream(BuildLog(id: 7))
    /// for try await piece in log.value { … }
    /// ```
    ///
    /// What is not read is not fetched, and a stream that is dropped ends the exchange. The timeout holds until the head is
    /// there; a stream may then rest as long as it likes. What breaks it off is a ``NetworkError``. It holds its place among
    /// ``NetworkConfig/maxConcurrentRequests`` until its end.
    /// - Parameters:
    ///   - endpoint: What to send.
    ///   - monitor: Is told how much has come.
    /// - Throws: ``NetworkError``; an answer that the endpoint does not accept fails here, and is read for the error.
    public func stream(
        _ endpoint: any Endpoint, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<ByteStream> {
        let receiver = StreamReceiver()
        let raw = try await perform(endpoint, accept: nil, monitor: monitor, receiver: receiver)
        return raw.with(receiver.takeBody())
    }
}

/// Keeps the body of an answer for whoever reads it when the call has returned.
private final class StreamReceiver: AnswerReceiver {
    let outlivesCall = true
    private let body = Locked(ByteStream.empty)

    func takeBody() -> ByteStream {
        body.withLock { body in
            defer { body = .empty }
            return body
        }
    }

    let attempt = 0

    func adapt(_ request: inout HTTPRequest) {}

    func takes(_ head: HTTPResponse, to endpoint: any Endpoint) -> Bool {
        endpoint.acceptableStatuses.contains(head.status.code)
    }

    func startsOver(after failure: NetworkError) -> Bool { false }

    func receive(_ answer: IncomingAnswer) async throws {
        let use = Use(answer)
        let total = answer.head.headerFields[.contentLength].flatMap { Int64($0) }
        let counted = answer.body.counted(of: total, answer.progress)
        let stream = ByteStream.onePass {
            let iterator = counted.makeAsyncIterator()
            return {
                do {
                    if let piece = try await iterator.next() { return piece }
                } catch {
                    use.end()
                    throw AttemptRunner.wrap(error, call: use.call)
                }
                use.end()
                return nil
            }
        }
        body.withLock { $0 = stream }
    }

    func finish(_ head: HTTPResponse) async throws {}

    /// What is given back when the body has been read, or is dropped.
    private final class Use: Sendable {
        let call: FailedCall
        private let held: Locked<(place: HeldPlace?, finish: @Sendable () -> Void)?>

        init(_ answer: IncomingAnswer) {
            call = answer.call
            held = Locked((answer.place, answer.finish))
        }

        deinit { end() }

        /// Only once: whoever watched may watch another call by the time that the stream is let go of.
        func end() {
            // Not under the lock: whoever takes the place next may come back here.
            let held = held.withLock { held in
                defer { held = nil }
                return held
            }
            held?.finish()
        }
    }
}
