import NIOCore

/// The bytes that a misbehavior sends once the request head has arrived, and how it ends the connection.
struct MisbehaviorScript: Sendable {
    /// The server's action after the opening bytes.
    enum Ending: Sendable {
        case close
        case reset
        /// Keeps the connection open without sending more.
        case silence
        /// Sends the same bytes repeatedly, as fast as the client reads.
        case repeating(ByteBuffer, every: Duration?, upTo: Int)
    }

    var waitsForRequest = true
    var opening = ByteBuffer()
    var ending: Ending

    init(_ misbehavior: Misbehavior) {
        switch misbehavior {
        case .acceptsAndNeverResponds:
            self.init("", .silence)
        case .closesImmediately:
            self.init("", .close)
            waitsForRequest = false
        case .resetsConnection:
            self.init("", .reset)
        case .closesMidHead:
            self.init("HTTP/1.1 200 OK\r\nContent-Type: text/pl", .close)
        case .closesMidBody(let declared, let sent), .sendsTooMuch(let declared, let sent):
            self.init("HTTP/1.1 200 OK\r\nContent-Length: \(declared)\r\n\r\n", .close)
            opening.writeRepeatingByte(UInt8(ascii: "x"), count: sent)
        case .endlessHeaders(let totalBytes):
            let fields = String(repeating: "X-Endless: \(String(repeating: "e", count: 100))\r\n", count: 500)
            self.init("HTTP/1.1 200 OK\r\n", .repeating(ByteBuffer(string: fields), every: nil, upTo: totalBytes))
        case .endlessBody:
            let chunk = "ffff\r\n\(String(repeating: "b", count: 0xffff))\r\n"
            self.init(Self.chunkedHead, .repeating(ByteBuffer(string: chunk), every: nil, upTo: .max))
        case .slowDrip(let interval):
            self.init(Self.chunkedHead, .repeating(ByteBuffer(string: "1\r\n.\r\n"), every: interval, upTo: .max))
        case .garbage:
            self.init("", .close)
            opening.writeBytes((0..<512).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 128) })
        case .badChunkedEncoding:
            self.init(Self.chunkedHead + "5\r\nhello\r\nnonsense\r\nworld\r\n", .close)
        case .invalidStatusLine:
            self.init("HTTP/1.1 okay\r\nContent-Length: 0\r\n\r\n", .close)
        }
    }

    private init(_ opening: String, _ ending: Ending) {
        self.opening = ByteBuffer(string: opening)
        self.ending = ending
    }

    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
}
