import Foundation
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#endif

/// A server on a free port of this machine that a test scripts byte by byte: one script for each connection.
///
/// ```swift
/// let server = try await WireServer.start { connection in
///     let request = try await connection.readRequest()
///     try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
/// }
/// ```
/// When the script returns, the connection is closed. Nothing is read but what the script asks for.
final class WireServer: Sendable {
    typealias Script = @Sendable (WireConnection) async throws -> Void

    let port: Int
    private let listener: any Channel
    private let connections: Connections

    /// The connections that came.
    private final class Connections: Sendable {
        private struct State {
            var opened = 0
            var live: [ObjectIdentifier: any Channel] = [:]
            var waiters: [Signal] = []
        }

        private let state = Locker(State())
        var opened: Int { state.with { $0.opened } }
        var live: [any Channel] { state.with { Array($0.live.values) } }

        func open(_ channel: any Channel) {
            state.with { state in
                state.opened += 1
                state.live[ObjectIdentifier(channel)] = channel
            }
            channel.closeFuture.whenComplete { _ in
                let waiters = self.state.with { state -> [Signal] in
                    state.live[ObjectIdentifier(channel)] = nil
                    guard state.live.isEmpty else { return [] }
                    defer { state.waiters = [] }
                    return state.waiters
                }
                for waiter in waiters { waiter.fire() }
            }
        }

        func allClosed() async {
            let signal = Signal()
            let isClosed = state.with { state in
                if !state.live.isEmpty { state.waiters.append(signal) }
                return state.live.isEmpty
            }
            if !isClosed { await signal.wait() }
        }
    }

    private init(_ listener: any Channel, port: Int, connections: Connections) {
        self.listener = listener
        self.port = port
        self.connections = connections
    }

    static func start(_ script: @escaping Script) async throws -> WireServer {
        let connections = Connections()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connections.open(channel)
                    let inbox = WireConnection.Inbox { inbox in
                        let connection = WireConnection(channel, inbox)
                        Task {
                            try? await script(connection)
                            channel.close(promise: nil)
                        }
                    }
                    try channel.pipeline.syncOperations.addHandler(inbox)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw WireError("no port") }
        return WireServer(listener, port: port, connections: connections)
    }

    /// `127.0.0.1:port`.
    var authority: String { "127.0.0.1:\(port)" }
    /// How many connections came.
    var opened: Int { connections.opened }
    /// Returns once every connection that came is closed.
    func allClosed() async { await connections.allClosed() }

    /// Closes the listener and every connection.
    func stop() async {
        try? await listener.close()
        for channel in connections.live { channel.close(promise: nil) }
        await connections.allClosed()
    }

    deinit {
        listener.close(promise: nil)
        for channel in connections.live { channel.close(promise: nil) }
    }
}

struct WireError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// One request as it came over the wire.
struct WireRequest: Sendable {
    /// The request line.
    let line: String
    /// The fields in their order, as they were written.
    let fields: [(name: String, value: String)]
    /// The body, its chunks joined.
    var body = Data()
    /// Whether the body came in chunks.
    var isChunked: Bool { self["transfer-encoding"]?.lowercased() == "chunked" }

    /// The values of a field, joined; `nil` without one.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: "|")
    }
}

/// One connection of a ``WireServer``. A script uses it from one task at a time.
final class WireConnection: Sendable {
    /// What came in and was not asked for yet. It lives on the channel's loop.
    final class Inbox: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var bytes = ByteBuffer()
        private var isOver = false
        private var asked: EventLoopPromise<ByteBuffer?>?
        private let start: @Sendable (NIOLoopBound<Inbox>) -> Void

        init(_ start: @escaping @Sendable (NIOLoopBound<Inbox>) -> Void) {
            self.start = start
        }

        func channelActive(context: ChannelHandlerContext) {
            // Not before: a channel forgets what it was asked to read while it was not active.
            start(NIOLoopBound(self, eventLoop: context.eventLoop))
        }

        func next(on channel: any Channel) -> EventLoopFuture<ByteBuffer?> {
            let promise = channel.eventLoop.makePromise(of: ByteBuffer?.self)
            asked = promise
            answer()
            if asked != nil { channel.read() }
            return promise.futureResult
        }

        private func answer() {
            guard let asked, bytes.readableBytes > 0 || isOver else { return }
            self.asked = nil
            asked.succeed(bytes.readableBytes > 0 ? bytes : nil)
            bytes = ByteBuffer()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var more = Self.unwrapInboundIn(data)
            bytes.writeBuffer(&more)
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            answer()
            if asked != nil { context.read() }
        }

        func channelInactive(context: ChannelHandlerContext) {
            isOver = true
            answer()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // A reset shows as the end, which follows.
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

    /// The next request's head, or `nil` when the client closes.
    func readHead() async throws -> WireRequest? {
        guard let line = try await readLine(), !line.isEmpty else { return nil }
        var fields: [(String, String)] = []
        while let field = try await readLine(), !field.isEmpty {
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw WireError("not a field: \(field)") }
            fields.append((String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)))
        }
        return WireRequest(line: line, fields: fields)
    }

    /// The next request with its body, or `nil` when the client closes.
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

    /// So many bytes.
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

    /// An answer with a length.
    func answer(_ status: String = "200 OK", fields: [String] = [], body: String = "") async throws {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        try await write(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Returns once the client has closed or reset the connection.
    func closed() async {
        while (try? await fill()) == true { read.with { $0.clear() } }
    }

    /// Ends the connection with a reset.
    func reset() async throws {
        guard let socket = channel as? any SocketOptionProvider else { throw WireError("no socket") }
        try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try? await channel.close()
    }
}

/// Something that happens once; whoever waits goes on when it has happened.
final class Signal: Sendable {
    private let state = Locker((fired: false, waiters: [CheckedContinuation<Void, Never>]()))

    var hasFired: Bool { state.with { $0.fired } }

    func fire() {
        let waiters = state.with { state in
            defer { state = (true, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let fired = state.with { state in
                if !state.fired { state.waiters.append(waiter) }
                return state.fired
            }
            if fired { waiter.resume() }
        }
    }
}

/// A value behind a lock.
final class Locker<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
