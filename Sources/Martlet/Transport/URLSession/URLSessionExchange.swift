#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// One request and its response. It connects the callbacks of the session, which arrive on one queue, with the task
    /// that waits for them.
    final class URLSessionExchange: Sendable {
        /// Above the high-water mark of buffered bytes the session is paused, and below the low-water mark it is
        /// resumed.
        private static let highWater = 1024 * 1024
        private static let lowWater = 256 * 1024

        let state = Locked(State())
        private let host: String
        private let isHead: Bool
        /// Records the metrics of the request; `nil` without observers.
        let recorder: TransferRecorder?

        init(host: String, isHead: Bool, recorder: TransferRecorder? = nil) {
            self.recorder = recorder
            self.host = host
            self.isHead = isHead
        }

        // MARK: The caller's side

        /// Starts the task, and returns the head.
        func start(
            _ upload: URLSessionUpload, on connections: URLSessionTransport.Connections
        ) async throws -> HTTPResponse {
            try await withCheckedThrowingContinuation { sender in
                let hasStarted = start(upload, on: connections) { $0.sender = sender }
                if !hasStarted { sender.resume(throwing: failure) }
            }
        }

        /// Starts the task, and returns when the whole response has arrived. The waiting task is resumed once.
        func run(
            _ upload: URLSessionUpload, on connections: URLSessionTransport.Connections, upTo maximumCount: Int
        ) async throws -> TransportResponse {
            try await withCheckedThrowingContinuation { caller in
                let hasStarted = start(upload, on: connections) { state in
                    state.caller = caller
                    state.maximumCount = maximumCount
                }
                if !hasStarted { caller.resume(throwing: failure) }
            }
            return try state.withLock { state in
                guard let head = state.head else {
                    throw TransportError.connectionLost("the server closed the connection")
                }
                let body = state.pieces.count == 1 ? state.pieces[0] : state.pieces.reduce(into: Data()) { $0 += $1 }
                state.pieces = []
                return TransportResponse(head: head, body: state.isTooLarge ? .tooLarge : .bytes(body))
            }
        }

        /// - Parameter wait: Records the task that waits for the response.
        /// - Returns: Whether the task has started; `false` if the exchange has already failed.
        private func start(
            _ upload: URLSessionUpload, on connections: URLSessionTransport.Connections,
            _ wait: (inout State) -> Void
        ) -> Bool {
            let session = connections.session
            let mayStart = state.withLock { state in
                guard state.end == nil else { return false }
                wait(&state)
                state.upload = upload
                state.task = upload.task
                state.queue = session.delegateQueue
                // Added before a cancellation can see the task, because the end of the task removes it.
                connections.exchanges.add(self, for: upload.task)
                return true
            }
            guard mayStart else {
                // The session would retain a task that is neither started nor cancelled.
                session.delegateQueue.addOperation { upload.task.cancel() }
                return false
            }
            upload.start(for: self)
            return true
        }

        /// The error that ended the exchange before it began.
        private var failure: any Error {
            if case .failure(let error) = state.withLock({ $0.end }) { return error }
            return CancellationError()
        }

        /// The next chunk of the body, or `nil` at its end.
        func next() async throws -> Data? {
            try await withCheckedThrowingContinuation { reader in
                let response = state.withLock { state -> Result<Data?, any Error>? in
                    if case .failure(let error) = state.end, error is CancellationError { return .failure(error) }
                    if let piece = state.nextPiece() {
                        state.buffered -= piece.count
                        if state.isPaused, state.buffered <= Self.lowWater {
                            state.isPaused = false
                            // Resumed while the lock is held; otherwise it could overtake the suspension.
                            state.task?.resume()
                        }
                        return .success(piece)
                    }
                    if let end = state.end { return end.map { nil } }
                    state.reader = reader
                    return nil
                }
                if let response { reader.resume(with: response) }
            }
        }

        /// Ends the exchange. The waiting task gets `CancellationError` at once; the session's task is cancelled later.
        func cancel() {
            end(.failure(CancellationError()), cancelling: true)
        }

        /// Ends the exchange with an error of the client, such as a body that failed.
        func fail(_ error: any Error) {
            end(.failure(error), cancelling: true)
        }

        private func end(_ end: Result<Void, any Error>, cancelling: Bool) {
            let (ended, decided) = state.withLock { state in
                guard state.end == nil else { return (nil as State?, nil as State.Decision?) }
                var decided: State.Decision?
                if case .success = end { decided = state.decide(isComplete: true) }
                defer {
                    state.end = end
                    state.sender = nil
                    state.reader = nil
                    state.caller = nil
                }
                return (state, decided)
            }
            guard let ended else { return }
            if let decided { decided.sender?.resume(returning: decided.head) }
            if case .failure(let error) = end { ended.sender?.resume(throwing: error) }
            ended.caller?.resume(with: end)
            ended.reader?.resume(with: end.map { nil })
            // Not cancelled here: on Linux, `URLSessionTask.cancel()` can wait for locks that the caller, a
            // cancellation handler, already holds. On the queue of the callbacks, the task cannot end between the check
            // and the cancellation.
            if cancelling { ended.queue?.addOperation { self.cancelTask() } }
        }

        /// Must be called on the session's queue.
        private func cancelTask() {
            let task = state.withLock { state -> URLSessionTask? in
                guard !state.isOver, !state.isRedirecting, !state.wasCancelled else { return nil }
                state.wasCancelled = true
                return state.task
            }
            task?.cancel()
        }

        // MARK: The session's side, on its queue

        /// Receives the head.
        /// - Returns: Whether the caller wants the body.
        func receive(_ response: URLResponse) -> Bool {
            guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
                fail(TransportError.invalidResponse("it has no status"))
                return false
            }
            // On Linux a 100 arrives as a response of its own.
            guard response.statusCode >= 200 || response.statusCode == 101 else { return true }
            recorder?.receiveHead()
            let head = HTTPResponse(response)
            // The fields of a response without a body may still describe one.
            let hasBody = !isHead && head.status.code != 204 && head.status.code != 304
            let (decided, isWanted) = state.withLock { state in
                (state.receive(head, hasBody: hasBody), state.end == nil)
            }
            if let decided { decided.sender?.resume(returning: decided.head) }
            return isWanted
        }

        func receive(_ data: Data) {
            guard !data.isEmpty else { return }
            let (decided, reader, isUnwanted, isTooLarge) = state.withLock {
                state -> (State.Decision?, CheckedContinuation<Data?, any Error>?, Bool, Bool) in
                if let end = state.end { return (nil, nil, state.isTooLarge || (try? end.get()) == nil, false) }
                let decided = state.decide(data)
                if let reader = state.reader {
                    state.reader = nil
                    return (decided, reader, false, false)
                }
                if let maximumCount = state.maximumCount, data.count > maximumCount - state.buffered {
                    state.isTooLarge = true
                    return (decided, nil, true, true)
                }
                state.pieces.append(data)
                state.buffered += data.count
                if URLSessionUpload.canPause, state.maximumCount == nil, !state.isPaused,
                    state.buffered >= Self.highWater
                {
                    state.isPaused = true
                    state.task?.suspend()
                }
                return (decided, nil, false, false)
            }
            if let decided { decided.sender?.resume(returning: decided.head) }
            reader?.resume(returning: data)
            if isTooLarge { finish() }
            // The cancellation waits in the queue behind all received chunks, which never end if the server sends
            // faster than they are consumed. So cancel here.
            if isUnwanted { cancelTask() }
        }

        /// Receives a redirect, which the session must not follow.
        func redirect() {
            state.withLock { $0.isRedirecting = true }
        }

        /// Ends the body, whatever the session reports later.
        func finish() {
            end(.success(()), cancelling: false)
        }

        #if canImport(FoundationNetworking)
            func reportSent(_ count: Int64) {
                // Without the lock, because the receiver may take locks of its own.
                state.withLock { $0.upload }?.reportSent(count)
            }
        #endif

        /// The head of the request was sent. The count of the session includes only bodies.
        func noteSentHead() {
            state.withLock { $0.hasSentHead = true }
        }

        func complete(_ response: URLResponse?, _ error: (any Error)?) {
            let (hasHead, hasSent, upload) = state.withLock { state in
                defer {
                    state.isOver = true
                    state.upload = nil
                    state.task = nil
                }
                let hasSent = state.hasSentHead || (state.task?.countOfBytesSent ?? 0) > 0
                return (state.hasHead, hasSent, state.upload)
            }
            upload?.stop()
            if let error {
                let codings = (response as? HTTPURLResponse).map { ContentCodings(HTTPResponse($0).headerFields) }
                fail(TransportError(error, host: host, hasHead: hasHead, hasSent: hasSent, codings: codings))
            } else if hasHead {
                finish()
            } else if let response, receive(response) {
                // On Linux there is no callback for the head of a redirect without a target.
                finish()
            } else {
                fail(TransportError.connectionLost("the server closed the connection"))
            }
        }
    }
#endif
