#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// One request and its answer, between the session's callbacks, which come on one queue, and a task that waits.
    final class URLSessionExchange: Sendable {
        /// How much of an answer to hold before the session is asked to pause, and how little before it goes on.
        private static let highWater = 1024 * 1024
        private static let lowWater = 256 * 1024

        private struct State {
            var task: URLSessionTask?
            var queue: OperationQueue?
            /// Who waits for the head.
            var sender: CheckedContinuation<HTTPResponse, any Error>?
            /// Who waits for a piece of the body.
            var reader: CheckedContinuation<Data?, any Error>?
            var hasHead = false
            var pieces: [Data] = []
            var buffered = 0
            var isPaused = false
            /// How it ended for its caller; pieces may be left to read.
            var end: Result<Void, any Error>?
            /// The task is done for the session; it must not be cancelled any more.
            var isOver = false
            /// The task was told to stop.
            var wasCancelled = false
            /// The session waits for what the callback about a redirect said, and must not be disturbed on Linux.
            var isRedirecting = false
            /// Held until the task is done.
            var upload: URLSessionUpload?
        }

        private let state = Locked(State())
        private let host: String
        private let isHead: Bool

        init(host: String, isHead: Bool) {
            self.host = host
            self.isHead = isHead
        }

        // MARK: The caller's side

        /// Starts the task and returns with the head.
        func start(
            _ upload: URLSessionUpload, on connections: URLSessionTransport.Connections
        ) async throws -> HTTPResponse {
            try await withCheckedThrowingContinuation { sender in
                let session = connections.session
                let isCancelled = state.withLock { state in
                    guard state.end == nil else { return true }
                    state.sender = sender
                    state.upload = upload
                    state.task = upload.task
                    state.queue = session.delegateQueue
                    // Before a cancellation can find the task: whoever is told of its end takes it off the list.
                    connections.exchanges.add(self, for: upload.task)
                    return false
                }
                guard !isCancelled else {
                    // A task that is never started is held by its session.
                    session.delegateQueue.addOperation { upload.task.cancel() }
                    return sender.resume(throwing: CancellationError())
                }
                upload.start(for: self)
            }
        }

        /// The next piece of the body, or `nil` at its end.
        func next() async throws -> Data? {
            try await withCheckedThrowingContinuation { reader in
                let answer = state.withLock { state -> Result<Data?, any Error>? in
                    if case .failure(let error) = state.end, error is CancellationError { return .failure(error) }
                    if !state.pieces.isEmpty {
                        let piece = state.pieces.removeFirst()
                        state.buffered -= piece.count
                        if state.isPaused, state.buffered <= Self.lowWater {
                            state.isPaused = false
                            // Under the lock, or it could overtake the suspending.
                            state.task?.resume()
                        }
                        return .success(piece)
                    }
                    if let end = state.end { return end.map { nil } }
                    state.reader = reader
                    return nil
                }
                if let answer { reader.resume(with: answer) }
            }
        }

        /// Ends the exchange: who waits gets `CancellationError` at once, the task is cancelled soon.
        func cancel() {
            end(.failure(CancellationError()), cancelling: true)
        }

        /// Ends the exchange for a reason of ours, such as a body that failed.
        func fail(_ error: any Error) {
            end(.failure(error), cancelling: true)
        }

        private func end(_ end: Result<Void, any Error>, cancelling: Bool) {
            let ended = state.withLock { state -> State? in
                guard state.end == nil else { return nil }
                defer {
                    state.end = end
                    state.sender = nil
                    state.reader = nil
                }
                return state
            }
            guard let ended else { return }
            if case .failure(let error) = end { ended.sender?.resume(throwing: error) }
            ended.reader?.resume(with: end.map { nil })
            // Not from here: this may be a task's cancellation handler, whose locks `URLSessionTask.cancel()` can wait
            // for on Linux; and on the queue of the callbacks nothing can end between the look and the cancelling.
            if cancelling { ended.queue?.addOperation { self.cancelTask() } }
        }

        /// On the session's queue.
        private func cancelTask() {
            let task = state.withLock { state -> URLSessionTask? in
                guard !state.isOver, !state.isRedirecting, !state.wasCancelled else { return nil }
                state.wasCancelled = true
                return state.task
            }
            task?.cancel()
        }

        // MARK: The session's side, on its queue

        /// The head came. Whether to go on with the body.
        func receive(_ response: URLResponse) -> Bool {
            guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
                fail(TransportError.invalidResponse("it has no status"))
                return false
            }
            // On Linux a 100 comes as an answer, before the answer itself.
            guard response.statusCode >= 200 || response.statusCode == 101 else { return true }
            let (sender, goesOn) = state.withLock { state in
                defer { state.sender = nil }
                state.isRedirecting = false
                state.hasHead = true
                return (state.sender, state.end == nil)
            }
            sender?.resume(returning: HTTPResponse(response, isDecoded: !isHead))
            return goesOn
        }

        /// A piece of the body came.
        func receive(_ data: Data) {
            guard !data.isEmpty else { return }
            let (reader, isUnwanted) = state.withLock { state -> (CheckedContinuation<Data?, any Error>?, Bool) in
                if let end = state.end { return (nil, (try? end.get()) == nil) }
                if let reader = state.reader {
                    state.reader = nil
                    return (reader, false)
                }
                state.pieces.append(data)
                state.buffered += data.count
                if URLSessionUpload.canPause, !state.isPaused, state.buffered >= Self.highWater {
                    state.isPaused = true
                    state.task?.suspend()
                }
                return (nil, false)
            }
            reader?.resume(returning: data)
            // The cancelling stands in the queue behind all pieces that have come, which never end where a server sends
            // faster than they are taken.
            if isUnwanted { cancelTask() }
        }

        /// A redirect came, and the session is told not to follow it.
        func redirect() {
            state.withLock { $0.isRedirecting = true }
        }

        /// The body is complete, whatever the session says next.
        func finish() {
            end(.success(()), cancelling: false)
        }

        #if canImport(FoundationNetworking)
            /// So much of the body has gone out.
            func hasSent(_ count: Int64) {
                // Without the lock: whoever is told may take locks of his own.
                state.withLock { $0.upload }?.hasSent(count)
            }
        #endif

        /// The task is done.
        func complete(_ response: URLResponse?, _ error: (any Error)?) {
            let (hasHead, upload) = state.withLock { state in
                defer {
                    state.isOver = true
                    state.upload = nil
                    state.task = nil
                }
                return (state.hasHead, state.upload)
            }
            upload?.stop()
            if let error {
                fail(TransportError(error, host: host, hasHead: hasHead))
            } else if hasHead {
                finish()
            } else if let response, receive(response) {
                // On Linux the callback about the head is left out for a redirect that leads nowhere.
                finish()
            } else {
                fail(TransportError.connectionLost("the server closed the connection"))
            }
        }
    }

    extension HTTPResponse {
        init(_ response: HTTPURLResponse, isDecoded: Bool) {
            var fields = HTTPFields()
            fields.reserveCapacity(response.allHeaderFields.count)
            var encoding: String?
            for (name, value) in response.allHeaderFields {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String
                else { continue }
                if name == .contentEncoding { encoding = value.lowercased() }
                fields.append(HTTPField(name: name, value: value))
            }
            if isDecoded, let encoding, URLSessionUpload.decodedEncodings.contains(encoding) {
                fields.dropFieldsOfEncodedBody()
            }
            self.init(status: .init(code: response.statusCode), headerFields: fields)
        }
    }

    /// The exchanges of one session, and the session's delegate.
    final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
        private let exchanges = Locked<[Int: URLSessionExchange]>([:])

        func add(_ exchange: URLSessionExchange, for task: URLSessionTask) {
            exchanges.withLock { $0[task.taskIdentifier] = exchange }
        }

        func exchange(for task: URLSessionTask) -> URLSessionExchange? {
            exchanges.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let goesOn = exchange(for: dataTask)?.receive(response) ?? false
            // Whoever ended the exchange has its task cancelled; on Linux this answer is not heeded anyway.
            completionHandler(goesOn ? .allow : .cancel)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            exchange(for: dataTask)?.receive(data)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            exchange(for: task)?.redirect()
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
                NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodHTMLForm,
                NSURLAuthenticationMethodDefault:
                guard !challenge.protectionSpace.isProxy() else { fallthrough }
                if URLSessionUpload.challengeEndsAnswer { exchange(for: task)?.finish() }
                completionHandler(.rejectProtectionSpace, nil)
            default:
                // The server's certificate, the client's, a proxy: the system's business.
                completionHandler(.performDefaultHandling, nil)
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(exchange(for: task)?.bodyStream())
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            exchange?.complete(task.response, error)
        }
    }

    extension URLSessionExchange {
        /// The body's stream, for the session; `nil` when it asks again, since a body is read only once.
        fileprivate func bodyStream() -> InputStream? {
            guard let upload = state.withLock({ $0.upload }) else { return nil }
            if let stream = upload.takeStream() { return stream }
            fail(TransportError.connectionLost("the session had to send the body again, which can be read only once"))
            return nil
        }
    }
#endif
