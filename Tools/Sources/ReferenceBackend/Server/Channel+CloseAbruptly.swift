import NIOCore
import NIOSSL

extension Channel {
    /// Closes the TCP connection without TLS's closing handshake, which would wait for the client.
    func closeAbruptly() {
        eventLoop.execute { [self] in
            if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                close(promise: nil)
            }
        }
    }
}
