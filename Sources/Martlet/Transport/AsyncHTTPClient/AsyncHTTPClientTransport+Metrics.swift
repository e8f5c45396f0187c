#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import NIOCore
    internal import NIOHTTP1

    /// The number of connections that a client has opened. async-http-client does not say which of them carries a
    /// request.
    final class OpenedConnections: Sendable {
        private let opened = Locked(0)

        var count: Int { opened.withLock { $0 } }

        /// The same configuration, which also counts each connection before it carries a request.
        func counted(in configuration: HTTPClient.Configuration) -> HTTPClient.Configuration {
            var configuration = configuration
            let refuse = configuration.http1_1ConnectionDebugInitializer
            configuration.http1_1ConnectionDebugInitializer = { channel in
                self.opened.withLock { $0 += 1 }
                return refuse?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            }
            configuration.http2ConnectionDebugInitializer = { channel in
                self.opened.withLock { $0 += 1 }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            return configuration
        }
    }

    extension AsyncHTTPClientTransport {
        /// Passes the facts that async-http-client reveals about a request to its recorder.
        struct Transfer: Sendable {
            private let recorder: TransferRecorder
            private let connections: Connections
            private let openedBefore: Int?

            /// - Returns: `nil` if the request is not recorded.
            init?(_ connections: Connections) {
                guard let recorder = TransferRecorder.current else { return nil }
                self.recorder = recorder
                self.connections = connections
                self.openedBefore = connections.opened?.count
            }

            func receive(_ version: HTTPVersion, _ headers: HTTPHeaders) {
                recorder.receiveHead()
                let isReused = isReused
                recorder.update { metrics in
                    metrics.protocolName = version.major == 2 ? "h2" : "http/\(version.major).\(version.minor)"
                    metrics.isReused = isReused
                }
                if !headers.contains(name: "Content-Encoding") { recorder.bodyIsNotDecoded() }
            }

            func send(_ count: Int) {
                recorder.update { $0.bodyBytesSent = ($0.bodyBytesSent ?? 0) + Int64(count) }
            }

            func finish(_ count: Int) {
                recorder.read(count)
                recorder.finish()
            }

            /// `nil` if this is unknown: a connection that was opened during the request may belong to another request.
            private var isReused: Bool? {
                guard let openedBefore, let opened = connections.opened?.count else { return nil }
                if opened == openedBefore { return true }
                return openedBefore == 0 ? false : nil
            }
        }
    }
#endif
