#if canImport(CryptoKit) || Encryption
    import Foundation
    import MartletLibc
    import MartletStorage

    /// Connects to a local port and sends bytes, in place of a browser. It blocks no task.
    final class RawVisitor: Sendable {
        private let descriptor: Int32
        private let queue = BlockingQueue("martlet.tests.visitor")

        /// - Returns: `nil` if no server listens there.
        static func connect(to port: UInt16) async -> RawVisitor? {
            await BlockingQueue.run { RawVisitor(port) }
        }

        private init?(_ port: UInt16) {
            #if canImport(Glibc)
                let stream = Int32(SOCK_STREAM.rawValue)
            #else
                let stream = SOCK_STREAM
            #endif
            descriptor = socket(AF_INET, stream, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    MartletLibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            // The descriptor is closed by `deinit`, which runs after a failure, too.
            guard isConnected else { return nil }
        }

        deinit {
            let descriptor = descriptor
            guard descriptor >= 0 else { return }
            queue.start { System.close(descriptor) }
        }

        func send(_ text: String) async {
            await queue.run { [descriptor] in
                var bytes = Array(text.utf8)[...]
                while !bytes.isEmpty {
                    let count = bytes.withUnsafeBytes {
                        MartletLibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return }
                    bytes = bytes.dropFirst(count)
                }
            }
        }

        /// Everything that the server sends until it closes the connection.
        func response() async -> String {
            await queue.run { [descriptor] in
                var text: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return String(decoding: text, as: UTF8.self) }
                    text += buffer[..<count]
                }
            }
        }

        /// Sends a request on a connection of its own.
        /// - Returns: The response; empty if there is none.
        static func request(_ text: String, to port: UInt16) async -> String {
            guard let visitor = await connect(to: port) else { return "" }
            await visitor.send(text)
            return await visitor.response()
        }
    }
#endif
