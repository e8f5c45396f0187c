#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import HTTPTypes
    internal import NIOCore
    internal import NIOHTTP1

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension AsyncHTTPClientTransport: DeadlineTransport {
        /// Kept small, so that a token that is revoked while many calls use it causes few rejections.
        var reservePerConnection: Int { 4 }

        func exchange(
            _ request: HTTPRequest, body: Data?, upTo maximumCount: Int, within limit: Duration
        ) async throws -> TransportResponse {
            // Let calls whose responses have arrived continue first, so that their next requests go out together.
            // Otherwise each request would wake the event loop and the server separately.
            await Task.yield()
            let connections = try connections(for: request)
            let exchange = MemoryExchange(to: request.method, upTo: maximumCount, Transfer(connections))
            let (loop, index) = loops.take()
            defer { loops.release(index) }
            do {
                let outgoing = try HTTPClient.Request(
                    request, body: body, acceptsCompression: connections.decodesContent)
                let expiry = limits.schedule(after: limit) { exchange.finish(.failure(DeadlineError())) }
                defer { expiry() }
                let received = try await exchange.run(outgoing, with: connections.client, on: loop)
                if !received.isTooLarge { exchange.transfer?.finish(received.body.readableBytes) }
                if received.head.version.major > 1 { recordMultiplexing(outgoing.url.absoluteString) }
                let head = try HTTPResponse(
                    received.head.status, received.head.headers, to: request.method,
                    decodesContent: connections.decodesContent)
                return TransportResponse(
                    head: head, body: received.isTooLarge ? .tooLarge : .bytes(Data(received: received.body)))
            } catch let error as DeadlineError {
                throw error
            } catch {
                throw TransportError.reason(
                    for: error, readingBodyOf: exchange.receivedHeaders, isSent: exchange.isSent)
            }
        }
    }

    extension HTTPClient.Request {
        fileprivate init(_ request: HTTPRequest, body: Data?, acceptsCompression: Bool) throws {
            try self.init(
                url: try request.target(), method: HTTPMethod(rawValue: request.method.rawValue),
                headers: HTTPHeaders(request.headerFields, acceptsCompression: acceptsCompression),
                body: body.map { .byteBuffer($0.withUnsafeBytes { ByteBuffer(bytes: $0) }) })
        }
    }

    /// Distributes exchanges over event loops.
    final class BalancedLoops: Sendable {
        private let loops: [any EventLoop]
        private let counts: Locked<[Int]>

        init(_ group: any EventLoopGroup) {
            loops = Array(group.makeIterator())
            counts = Locked(Array(repeating: 0, count: loops.count))
        }

        /// Takes the loop with the fewest requests. Ties go to the first one, so that consecutive calls stay on one
        /// thread.
        func take() -> (loop: any EventLoop, index: Int) {
            let index = counts.withLock { counts in
                var best = 0
                for index in counts.indices where counts[index] < counts[best] { best = index }
                counts[best] += 1
                return best
            }
            return (loops[index], index)
        }

        func release(_ index: Int) {
            counts.withLock { $0[index] -= 1 }
        }
    }

    /// One request and its response, both in memory.
    ///
    /// async-http-client reports to a delegate on the connection's event loop. The caller's task is therefore resumed
    /// once, when the response is complete, and not for its head, each chunk and its end.
    private final class MemoryExchange: HTTPClientResponseDelegate {
        typealias Response = Void

        /// The part of the response that has arrived.
        struct Received: Sendable {
            var head: HTTPResponseHead
            var body = ByteBuffer()
            var isTooLarge = false
        }

        private struct State {
            var received: Received?
            var caller: CheckedContinuation<Result<Received, any Error>, Never>?
            var task: HTTPClient.Task<Void>?
            /// The error, if the exchange has failed before the caller waits.
            var earlyFailure: (any Error)?
            var isOver = false
            /// Whether the head of the request has been written to a connection.
            var isSent = false
        }

        private let method: HTTPRequest.Method
        private let maximumCount: Int
        /// Records the metrics of the request; `nil` without observers.
        let transfer: AsyncHTTPClientTransport.Transfer?
        private let state = Locked(State())

        init(
            to method: HTTPRequest.Method, upTo maximumCount: Int, _ transfer: AsyncHTTPClientTransport.Transfer?
        ) {
            self.transfer = transfer
            self.method = method
            self.maximumCount = maximumCount
        }

        /// The header fields of the response, if its head has arrived.
        var receivedHeaders: HTTPHeaders? { state.withLock { $0.received?.head.headers } }

        /// Whether the request may have been sent.
        var isSent: Bool { state.withLock { $0.isSent } }

        /// Sends the request. It is handed to the client on the event loop, which would otherwise be woken for each
        /// step.
        func run(
            _ request: HTTPClient.Request, with client: HTTPClient, on loop: any EventLoop
        ) async throws -> Received {
            try await withTaskCancellationHandler {
                await withCheckedContinuation { caller in
                    let failure = state.withLock { state -> (any Error)? in
                        if !state.isOver { state.caller = caller }
                        return state.earlyFailure
                    }
                    if let failure { return caller.resume(returning: .failure(failure)) }
                    loop.execute { self.start(request, with: client) }
                }
            } onCancel: {
                finish(.failure(CancellationError()))
            }.get()
        }

        private func start(_ request: HTTPClient.Request, with client: HTTPClient) {
            guard !state.withLock({ $0.isOver }) else { return }
            let task = client.execute(request: request, delegate: self)
            let isOver = state.withLock { state in
                if !state.isOver { state.task = task }
                return state.isOver
            }
            if isOver { return task.cancel() }
            task.futureResult.whenComplete { self.finish(self.withoutMissingBody($0)) }
        }

        /// The decompressor reports an empty body as truncated.
        private func withoutMissingBody(_ result: Result<Void, any Error>) -> Result<Void, any Error> {
            guard case .failure(let error) = result, let received = state.withLock({ $0.received }),
                HTTPResponse.isBodyless(Int(received.head.status.code), to: method)
                    || received.body.readableBytes == 0 && received.head.headers.allowEmptyBody(after: error)
            else { return result }
            return .success(())
        }

        /// Ends the exchange with the first of its results. If the response is not complete, the connection is closed.
        func finish(_ result: Result<Void, any Error>) {
            let (caller, task, received) = state.withLock { state in
                defer {
                    if case .failure(let error) = result, !state.isOver, state.caller == nil {
                        state.earlyFailure = error
                    }
                    (state.caller, state.task, state.isOver) = (nil, nil, true)
                }
                return (state.caller, state.task, state.received)
            }
            switch result {
            case .success:
                guard let received else {
                    caller?.resume(returning: .failure(HTTPClientError.remoteConnectionClosed))
                    return
                }
                caller?.resume(returning: .success(received))
            case .failure(let error):
                task?.cancel()
                caller?.resume(returning: .failure(error))
            }
        }

        func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
            state.withLock { $0.isSent = true }
        }

        func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
            transfer?.send(part.readableBytes)
        }

        func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
            transfer?.receive(head.version, head.headers)
            // A body, if there is one, has reported its bytes by now.
            transfer?.send(0)
            state.withLock { $0.received = Received(head: head) }
            return task.eventLoop.makeSucceededVoidFuture()
        }

        func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
            let isTooLarge = state.withLock { $0.received?.append(part, upTo: maximumCount) } ?? false
            guard isTooLarge else { return task.eventLoop.makeSucceededVoidFuture() }
            // The received part is enough to follow a redirect.
            finish(.success(()))
            return task.eventLoop.makeFailedFuture(HTTPClientError.cancelled)
        }

        func didFinishRequest(task: HTTPClient.Task<Void>) {}
    }

    extension MemoryExchange.Received {
        /// - Returns: Whether the body is larger than the caller accepts.
        fileprivate mutating func append(_ part: ByteBuffer, upTo maximumCount: Int) -> Bool {
            var part = part
            isTooLarge = body.readableBytes + part.readableBytes > maximumCount
            if isTooLarge { return true }
            if body.readableBytes == 0 { body = part } else { body.writeBuffer(&part) }
            return false
        }
    }
#endif
