import Foundation
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#endif

/// A request as it was received.
struct WireRequest: Sendable {
    /// The request line.
    let line: String
    /// The header fields in the received order and spelling.
    let fields: [(name: String, value: String)]
    /// The body without its chunk framing.
    var body = Data()
    /// Whether the body was chunked.
    var isChunked: Bool { self["transfer-encoding"]?.lowercased() == "chunked" }

    /// The values of a field, joined with `|`; `nil` if the field is missing.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: "|")
    }
}

/// One connection of a ``WireServer``. A script uses it from one task at a time.
final class WireConnection: Sendable {
    /// The received bytes that have not been read. Confined to the channel's event loop.
    final class Inbox: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var bytes = ByteBuffer()
        private var isOver = false
        private var pending: EventLoopPromise<ByteBuffer?>?
        private let start: @Sendable (NIOLoopBound<Inbox>) -> Void

        init(_ start: @escaping @Sendable (NIOLoopBound<Inbox>) -> Void) {
            self.start = start
        }

        func channelActive(context: ChannelHandlerContext) {
            // Not earlier: an inactive channel ignores reads.
            start(NIOLoopBound(self, eventLoop: context.eventLoop))
        }

        func next(on channel: any Channel) -> EventLoopFuture<ByteBuffer?> {
            let promise = channel.eventLoop.makePromise(of: ByteBuffer?.self)
            pending = promise
            deliver()
            if pending != nil { channel.read() }
            return promise.futureResult
        }

        private func deliver() {
            guard let pending, bytes.readableBytes > 0 || isOver else { return }
            self.pending = nil
            pending.succeed(bytes.readableBytes > 0 ? bytes : nil)
            bytes = ByteBuffer()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var more = Self.unwrapInboundIn(data)
            bytes.writeBuffer(&more)
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            deliver()
            if pending != nil { context.read() }
        }

        func channelInactive(context: ChannelHandlerContext) {
            isOver = true
            deliver()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // `channelInactive` follows and ends the input.
            context.close(promise: nil)
        }
    }

    private let channel: any Channel
    private let inbox: NIOLoopBound<Inbox>
    private let read = Locker(ByteBuffer())

    init(_ channel: any Channel, _ inbox: NIOLoopBound<Inbox>) {
        self.channel = channel
        self.inbox = inbox
    }

    private func fill() async throws -> Bool {
        let more = try await channel.eventLoop.flatSubmit { [channel, inbox] in inbox.value.next(on: channel) }.get()
        guard var more else { return false }
        read.with { read in
            read.discardReadBytes()
            read.writeBuffer(&more)
        }
        return true
    }

    private func readLine() async throws -> String? {
        while true {
            let line = read.with { read -> String? in
                let view = read.readableBytesView
                guard let end = view.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                let line = String(decoding: view[view.startIndex..<end], as: UTF8.self)
                read.moveReaderIndex(forwardBy: end - view.startIndex + 1)
                return line.hasSuffix("\r") ? String(line.unicodeScalars.dropLast()) : line
            }
            if let line { return line }
            guard try await fill() else { return nil }
        }
    }

    /// Reads the next request head; `nil` if the client has closed the connection.
    func readHead() async throws -> WireRequest? {
        guard let line = try await readLine(), !line.isEmpty else { return nil }
        var fields: [(String, String)] = []
        while let field = try await readLine(), !field.isEmpty {
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw WireError("not a header field: \(field)") }
            fields.append((String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)))
        }
        return WireRequest(line: line, fields: fields)
    }

    /// Reads the next request with its body; `nil` if the client has closed the connection.
    func readRequest() async throws -> WireRequest? {
        guard var request = try await readHead() else { return nil }
        if request.isChunked {
            while let size = try await readLine(), let count = Int(size, radix: 16) {
                request.body.append(try await read(count))
                _ = try await readLine()
                if count == 0 { break }
            }
        } else if let length = request["content-length"].flatMap({ Int($0) }) {
            request.body = try await read(length)
        }
        return request
    }

    /// Reads `count` bytes. Throws if the client closes the connection before.
    func read(_ count: Int) async throws -> Data {
        while true {
            let (bytes, held) = read.with { read in
                (read.readBytes(length: count), read.readableBytes)
            }
            if let bytes { return Data(bytes) }
            guard try await fill() else { throw WireError("closed after \(held) of \(count) bytes") }
        }
    }

    func write(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    func write(_ bytes: Data) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// Writes a response with a `Content-Length`.
    func respond(_ status: String = "200 OK", fields: [String] = [], body: String = "") async throws {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        try await write(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Waits until the client has closed or reset the connection.
    func closed() async {
        while (try? await fill()) == true { read.with { $0.clear() } }
    }

    /// Resets the connection.
    func reset() async throws {
        guard let socket = channel as? any SocketOptionProvider else { throw WireError("no socket") }
        try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try? await channel.close()
    }
}
