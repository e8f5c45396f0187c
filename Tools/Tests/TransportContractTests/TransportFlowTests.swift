import Foundation
import HTTPTypes
import Martlet
import MartletTesting
import Testing

extension TransportContract {
    /// Back-pressure, cancellation and the release of bodies and transports.
    @Suite("Flow", .timeLimit(.minutes(10)))
    struct Flow {
        @Test(arguments: TransportKind.allCases)
        func responseIsNotReadAhead(_ kind: TransportKind) async throws {
            try kind.needs(.backPressureOfResponses)
            let written = Locker(0)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    guard request.line.contains("/large") else {
                        try await connection.respond()
                        continue
                    }
                    try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(256 << 20)\r\n\r\n")
                    for _ in 0..<256 {
                        try await connection.write(Data(count: 1 << 20))
                        written.with { $0 += 1 << 20 }
                    }
                }
            }
            let transport = kind.make()
            let response = try await transport.send(request(.get, "/large", to: server), body: nil)
            // Round trips, to give the transport time to read ahead.
            for _ in 0..<200 { _ = try await transport.send(request(to: server), body: nil).body.collect(upTo: 10) }
            #expect(written.with { $0 } < 64 << 20)
            var length = 0
            for try await piece in response.body { length += piece.count }
            #expect(length == 256 << 20)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func requestIsNotReadAhead(_ kind: TransportKind) async throws {
            try kind.needs(.streamedRequests)
            let goOn = Signal()
            let server = try await WireServer.start { connection in
                while let head = try await connection.readHead() {
                    guard head.line.hasPrefix("POST") else {
                        try await connection.respond()
                        continue
                    }
                    await goOn.wait()
                    for _ in 0..<256 { _ = try await connection.read(1 << 20) }
                    try await connection.respond()
                }
            }
            let transport = kind.make()
            let pieces = Pieces(pieces: (0..<256).map { _ in Data(count: 1 << 20) })
            async let upload = transport.send(
                request(.post, to: server), body: OutgoingBody(ByteStream(pieces), length: 256 << 20))
            for _ in 0..<200 { _ = try await transport.send(request(to: server), body: nil).body.collect(upTo: 10) }
            #expect(pieces.asked.with { $0 } < 64 << 20)
            goOn.fire()
            #expect(try await upload.head.status == .ok)
            await server.stop()
        }

        @Test(
            "A body with `Expect: 100-continue` is not sent if the server rejects the request",
            arguments: TransportKind.allCases)
        func asksFirst(_ kind: TransportKind) async throws {
            try kind.needs(.askingFirst)
            let came = Locker<[String?]>([])
            let server = try await WireServer.start { connection in
                while let head = try await connection.readHead() {
                    came.with { $0.append(head["expect"]) }
                    guard head.line.contains("/go-on") else {
                        return try await connection.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
                    }
                    try await connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                    #expect(try await connection.read(3_000_000).count == 3_000_000)
                    try await connection.respond(body: "thanks")
                }
            }
            let transport = kind.make()
            #expect(transport.waitsForContinue)
            let fields: HTTPFields = [.expect: "100-continue"]
            let body = OutgoingBody(ByteStream(Pieces(pieces: [Data(count: 3_000_000)])), length: 3_000_000)
            let refused = try await transport.send(request(.post, "/stop", to: server, fields), body: body)
            #expect(refused.head.status == .unauthorized)
            let taken = try await transport.send(request(.post, "/go-on", to: server, fields), body: body)
            #expect(taken.head.status == .ok)
            #expect(try await taken.body.collect(upTo: 10) == Data("thanks".utf8))
            #expect(came.with { $0 } == ["100-continue", "100-continue"])
            await server.stop()
        }

        // MARK: Cancellation and release

        @Test(arguments: TransportKind.allCases)
        func dropUnread(_ kind: TransportKind) async throws {
            try kind.needs(.streamedResponses)
            let closed = Signal()
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhello")
                await connection.closed()
                closed.fire()
            }
            let transport = kind.make()
            _ = try await transport.send(request(to: server), body: nil)
            await closed.wait()
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func dropHalfRead(_ kind: TransportKind) async throws {
            try kind.needs(.streamedResponses)
            let closed = Signal()
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhello")
                await connection.closed()
                closed.fire()
            }
            let transport = kind.make()
            let response = try await transport.send(request(to: server), body: nil)
            for try await piece in response.body {
                #expect(!piece.isEmpty)
                break
            }
            await closed.wait()
            await server.stop()
        }

        enum Phase: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case beforeSending, uploading, waitingForHead, inHead, inBody

            var testDescription: String { rawValue }
        }

        @Test(arguments: TransportKind.allCases, Phase.allCases)
        func cancel(_ kind: TransportKind, phase: Phase) async throws {
            if phase == .inBody { try kind.needs(.streamedResponses) }
            let reached = Signal()
            let closed = Signal()
            let server = try await WireServer.start { connection in
                _ = try await phase == .uploading ? connection.readHead() : connection.readRequest()
                switch phase {
                case .beforeSending, .waitingForHead: reached.fire()
                case .uploading: break
                case .inHead:
                    try await connection.write("HTTP/1.1 200 OK\r\nX-A: ")
                    reached.fire()
                case .inBody: try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello")
                }
                await connection.closed()
                closed.fire()
            }
            let streamEnded = Signal()
            let body = ByteStream {
                var isFirst = true
                let ending = OnDeinit { streamEnded.fire() }
                return {
                    withExtendedLifetime(ending) {}
                    defer { isFirst = false }
                    if isFirst { return Data(count: 1000) }
                    reached.fire()
                    try await Gate().passUnlessCancelled()
                    return nil
                }
            }
            let transport = kind.make()
            let task = Task {
                if phase == .beforeSending { await Task.yield() }
                let response = try await transport.send(
                    request(phase == .uploading ? .post : .get, to: server),
                    body: phase == .uploading ? OutgoingBody(body, length: 10_000) : nil)
                for try await piece in response.body {
                    #expect(piece == Data("hello".utf8))
                    reached.fire()
                }
            }
            if phase != .beforeSending { await reached.wait() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            if phase == .uploading { await streamEnded.wait() }
            // A transport that reads streams in advance has sent nothing yet, and neither may one that was cancelled at
            // once.
            if phase != .beforeSending, server.opened > 0 { await closed.wait() }
            await server.stop()
        }

        @Test(
            "A call cancelled at any moment ends: with its response, CancellationError or TransportError",
            arguments: TransportKind.allCases)
        func cancelRaces(_ kind: TransportKind) async throws {
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    // Some connections are closed without a response, so that this too races with the cancellation.
                    if request.line.contains("7") { return }
                    try await connection.respond(body: "hello")
                }
            }
            let transport = kind.make()
            var outcomes = (responded: 0, cancelled: 0, lost: 0)
            for index in 0..<400 {
                let task = Task {
                    try await transport.send(request(.get, "/\(index)", to: server), body: nil).body.collect(upTo: 100)
                }
                for _ in 0..<(index * 7 % 40) { await Task.yield() }
                task.cancel()
                switch await task.result {
                case .success(let body):
                    #expect(body == Data("hello".utf8))
                    outcomes.responded += 1
                case .failure(is CancellationError): outcomes.cancelled += 1
                case .failure(is TransportError): outcomes.lost += 1
                case .failure(let error): Issue.record(error)
                }
            }
            #expect(outcomes.responded + outcomes.cancelled + outcomes.lost == 400)
            #expect(outcomes.cancelled > 0)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func releaseClosesConnections(_ kind: TransportKind) async throws {
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil { try await connection.respond(body: "hello") }
            }
            var transport: (any Transport)? = kind.make()
            var isolated = transport?.makeIsolatedTransport()
            for transport in [transport, isolated] {
                _ = try await transport?.send(request(to: server), body: nil).body.collect(upTo: 10)
            }
            #expect(server.opened == 2)
            transport = nil
            isolated = nil
            await server.allClosed()
            await server.stop()
        }

        @Test("A body outlives its transport", arguments: TransportKind.allCases)
        func bodyOutlivesTransport(_ kind: TransportKind) async throws {
            try kind.needs(.streamedResponses)
            let goOn = Signal()
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
                await goOn.wait()
                try await connection.write("there")
                await connection.closed()
            }
            var transport: (any Transport)? = kind.make()
            let response = try await transport?.send(request(to: server), body: nil)
            transport = nil
            goOn.fire()
            #expect(try await response?.body.collect(upTo: 10) == Data("hellothere".utf8))
            await server.stop()
        }

        @Test("An isolated transport has a connection even if all others are in use", arguments: TransportKind.allCases)
        func isolatedTransport(_ kind: TransportKind) async throws {
            let taken = Locker(0)
            let full = Signal()
            let goOn = Signal()
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    if request.line.contains("slow") {
                        if taken.with({ count in
                            count += 1
                            return count == 4
                        }) {
                            full.fire()
                        }
                        await goOn.wait()
                    }
                    try await connection.respond()
                }
            }
            let transport = kind.make()
            let isolated = transport.makeIsolatedTransport()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // More requests than either transport has connections.
                for _ in 0..<20 {
                    group.addTask { _ = try await transport.send(request(.get, "/slow", to: server), body: nil) }
                }
                await full.wait()
                let response = try await isolated.send(request(to: server), body: nil)
                #expect(response.head.status == .ok)
                goOn.fire()
                try await group.waitForAll()
            }
            await server.stop()
        }
    }
}
