import NIOCore
import NIOSSL

extension Channel {
    /// Closes the TCP connection without TLS's goodbye, which would wait for the client's.
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
