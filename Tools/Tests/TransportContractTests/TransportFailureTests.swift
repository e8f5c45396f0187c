import Foundation
import HTTPTypes
import Martlet
import MartletTesting
import Testing

extension TransportContract {
    /// Failures of a transport: network errors, invalid responses and request bodies that throw.
    @Suite("Failures", .timeLimit(.minutes(10)))
    struct Failures {
        private static func failure(of operation: () async throws -> Void) async throws -> TransportError {
            do {
                try await operation()
            } catch let error as TransportError {
                return error
            } catch {
                Issue.record("a TransportError was expected, not \(error)")
                throw error
            }
            Issue.record("a TransportError was expected, not success")
            throw WireError("no failure")
        }

        @Test(arguments: TransportKind.allCases)
        func refused(_ kind: TransportKind) async throws {
            let server = try await WireServer.start { _ in }
            await server.stop()
            let error = try await Self.failure { _ = try await kind.make().send(request(to: server), body: nil) }
            guard case .cannotConnect(let reason) = error else { throw error }
            #expect(reason.contains("refused"))
        }

        @Test(arguments: TransportKind.allCases)
        func unknownHost(_ kind: TransportKind) async throws {
            let error = try await Self.failure {
                let request = HTTPRequest(method: .get, scheme: "http", authority: "nonexistent.invalid", path: "/")
                _ = try await kind.make().send(request, body: nil)
            }
            guard case .cannotConnect(let reason) = error else { throw error }
            #expect(reason == "unknown host nonexistent.invalid")
        }

        @Test("a connection that is not ready in time has sent no request") func connectTimeout() async throws {
            // Accepts connections and never begins TLS.
            let hasFailed = Signal()
            let silent = try await WireServer.start { _ in await hasFailed.wait() }
            let transport = AsyncHTTPClientTransport(connectTimeout: .milliseconds(50))
            let error = try await Self.failure {
                let request = HTTPRequest(
                    method: .post, scheme: "https", authority: "127.0.0.1:\(silent.port)", path: "/")
                _ = try await transport.send(request, body: nil)
            }
            guard case .cannotConnect("no connection within the time limit") = error else { throw error }
            hasFailed.fire()
            try await transport.shutdown()
            await silent.stop()
        }

        @Test(
            arguments: TransportKind.allCases,
            ["ftp://x/", "http://a@b/", "http://a b/", "http:///x", "http://a/ b", "http://a*"])
        func badTargets(_ kind: TransportKind, target: String) async throws {
            let parts = target.split(separator: ":", maxSplits: 1)
            let rest = parts[1].dropFirst(2)
            let slash = rest.firstIndex(of: "/") ?? rest.firstIndex(of: "*") ?? rest.endIndex
            let request = HTTPRequest(
                method: .get, scheme: String(parts[0]), authority: String(rest[..<slash]), path: String(rest[slash...]))
            let error = try await Self.failure { _ = try await kind.make().send(request, body: nil) }
            switch error {
            case .invalidRequest, .cannotConnect: break
            default: throw error
            }
        }

        /// The way in which a server breaks off or garbles its response.
        enum Breakage: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case resetBeforeHead, closedBeforeHead, closedInHead, closedInBody, closedInChunk, resetInBody, garbage,
                wrongChunk

            var testDescription: String { rawValue }
        }

        @Test(arguments: TransportKind.allCases, Breakage.allCases)
        func broken(_ kind: TransportKind, breakage: Breakage) async throws {
            if breakage == .closedInHead { try kind.needs(.headsCutShort) }
            if breakage == .resetInBody { try kind.needs(.streamedResponses) }
            let headRead = Signal()
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                switch breakage {
                case .resetBeforeHead: try await connection.reset()
                case .closedBeforeHead: break
                case .closedInHead: try await connection.write("HTTP/1.1 200 OK\r\nContent-Le")
                case .closedInBody: try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                case .closedInChunk:
                    try await connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf")
                case .resetInBody:
                    try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                    await headRead.wait()
                    try await connection.reset()
                case .garbage: try await connection.write("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n\r\n")
                case .wrongChunk:
                    try await connection.write(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n0\r\n\r\n")
                }
            }
            let error = try await Self.failure {
                let response = try await kind.make().send(request(to: server), body: nil)
                headRead.fire()
                _ = try await response.body.collect(upTo: 100)
            }
            switch (breakage, error) {
            case (.garbage, .invalidResponse), (.garbage, .connectionLost): break
            case (.wrongChunk, .invalidResponse), (.wrongChunk, .connectionLost): break
            case (.closedInHead, .invalidResponse): break
            case (_, .connectionLost): break
            default: throw error
            }
            await server.stop()
        }

        @Test("100 MB of header fields cause an error", arguments: TransportKind.allCases, [true, false])
        func endlessHead(_ kind: TransportKind, isOneField: Bool) async throws {
            try kind.needs(.boundedHeads)
            // In a process of its own, because the memory of other tests would count, too.
            await #expect(processExitsWith: .success) {
                [kind = kind as TransportKind, isOneField = isOneField as Bool] in
                try await TransportContract.Failures.readEndlessHead(kind, isOneField: isOneField)
            }
        }

        fileprivate static func readEndlessHead(_ kind: TransportKind, isOneField: Bool) async throws {
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\n")
                if isOneField { try await connection.write("X-Long: ") }
                let line =
                    isOneField
                    ? Data(repeating: 97, count: 1000) : Data("X-A: \(String(repeating: "a", count: 993))\r\n".utf8)
                let block = Data((0..<1000).map { _ in line }.joined())
                for _ in 0..<100 { try await connection.write(block) }
                try await connection.write("\r\n\r\n")
            }
            let before = residentBytes()
            let error = try await Self.failure { _ = try await kind.make().send(request(to: server), body: nil) }
            switch error {
            case .invalidResponse, .connectionLost: break
            default: throw error
            }
            #expect(residentBytes() - before < 80 << 20)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func bomb(_ kind: TransportKind) async throws {
            try kind.needs(.boundedInflation)
            // 10 MB of zeros, compressed to about ten thousand bytes.
            let packed = try #require(GzipBomb.make(megabytes: 10))
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    try await connection.write(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
                    try await connection.write(packed)
                }
            }
            let error = try await Self.failure {
                let response = try await kind.make().send(request(to: server), body: nil)
                for try await _ in response.body {}
            }
            guard case .invalidResponse = error else { throw error }
            await server.stop()
        }

        // MARK: Bodies that fail

        private struct Broken: Error, Equatable {}

        @Test(arguments: TransportKind.allCases, [0, 100_000, 3_000_000])
        func bodyThrows(_ kind: TransportKind, after count: Int) async throws {
            let server = try await WireServer.start { connection in _ = try await connection.readRequest() }
            let body = ByteStream {
                var rest = count
                return {
                    guard rest > 0 else { throw Broken() }
                    rest -= 100_000
                    return Data(repeating: 0, count: 100_000)
                }
            }
            for length in [nil, Int64(10_000_000)] {
                let error = try await Self.failure {
                    _ = try await kind.make().send(
                        request(.post, to: server), body: OutgoingBody(body, length: length))
                }
                guard case .bodyFailed(let reason) = error else { throw error }
                #expect(reason as? Broken == Broken())
            }
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases, [0, 4, 6, 2_000_000])
        func wrongLength(_ kind: TransportKind, length: Int) async throws {
            let server = try await WireServer.start { connection in
                if try await connection.readRequest() != nil { try await connection.respond() }
            }
            let body = OutgoingBody(
                ByteStream(Pieces(pieces: [Data("hel".utf8), Data("lo".utf8)])), length: Int64(length))
            let error = try await Self.failure {
                _ = try await kind.make().send(request(.post, to: server), body: body)
            }
            guard case .invalidRequest = error else { throw error }
            await server.stop()
        }

        @Test("A server may respond before it has read the request", arguments: TransportKind.allCases)
        func earlyResponse(_ kind: TransportKind) async throws {
            try kind.needs(.streamedRequests)
            let server = try await WireServer.start { connection in
                _ = try await connection.readHead()
                try await connection.respond("413 Content Too Large", fields: ["Connection: close"], body: "too large")
                await connection.closed()
            }
            let asked = Signal()
            let ended = Signal()
            let body = ByteStream {
                let ending = OnDeinit { ended.fire() }
                return {
                    withExtendedLifetime(ending) {}
                    guard asked.hasFired else {
                        asked.fire()
                        return Data(repeating: 0, count: 1000)
                    }
                    // Never returns a piece; only cancellation ends it.
                    try await Gate().passUnlessCancelled()
                    return nil
                }
            }
            let response = try await kind.make().send(
                request(.post, to: server), body: OutgoingBody(body, length: 1_000_000))
            #expect(response.head.status.code == 413)
            #expect(try await response.body.collect(upTo: 100) == Data("too large".utf8))
            await asked.wait()
            await ended.wait()
            await server.stop()
        }
    }
}
