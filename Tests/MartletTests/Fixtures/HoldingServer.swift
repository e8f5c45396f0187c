#if os(Linux) && canImport(Glibc)
    import Dispatch
    import Foundation
    import Glibc

    @testable import Martlet

    /// A server for one upload on a free local port. It reads the body only after `readBody()`.
    final class HoldingServer: Sendable {
        let port: UInt16
        private let listener: Int32
        private let mayRead = DispatchSemaphore(value: 0)
        private let body = Locked(0)

        /// The number of body bytes received so far.
        var receivedBytes: Int { body.withLock { $0 } }

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            self.listener = listener
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, size) == 0 && listen(listener, 1) == 0
                        && getsockname(listener, address, &size) == 0
                }
            }
            port = UInt16(bigEndian: address.sin_port)
            guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
            DispatchQueue(label: "martlet.tests.holding-server").async { [mayRead, body] in
                let connection = accept(listener, nil, nil)
                defer { close(connection) }
                let length = Self.readHead(connection)
                mayRead.wait()
                var buffer = [UInt8](repeating: 0, count: 1 << 20)
                while body.withLock({ $0 }) < length {
                    let got = recv(connection, &buffer, buffer.count, 0)
                    guard got > 0 else { return }
                    body.withLock { $0 += got }
                }
                let response = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
                _ = send(connection, response, response.count, Int32(MSG_NOSIGNAL))
            }
        }

        deinit {
            readBody()
            // Wakes a thread that still waits in `accept`.
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }

        /// Reads the body and responds.
        func readBody() { mayRead.signal() }

        /// Reads the head byte by byte, so that no byte of the body is consumed.
        /// - Returns: The Content-Length, or 0 without one.
        private static func readHead(_ connection: Int32) -> Int {
            var head = ""
            var byte: UInt8 = 0
            while !head.hasSuffix("\r\n\r\n"), recv(connection, &byte, 1, 0) == 1 {
                head.unicodeScalars.append(UnicodeScalar(byte))
            }
            let field = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            return field.flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
                ?? 0
        }
    }
#endif
