import Foundation
import Martlet
import Testing

extension TransportContract {
    /// Time limits and cancellation of a client's calls, whether the transport or the client ends them.
    @Suite("Limits of calls", .timeLimit(.minutes(10)))
    struct ClientLimits {
        /// The moment at which the server falls silent, until the client closes the connection.
        enum Silence: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case beforeHead, inBody

            var testDescription: String { rawValue }
        }

        @Test(
            "A server that falls silent is a timeout with one text", arguments: TransportKind.allCases, Silence.allCases
        )
        func timeout(_ kind: TransportKind, silence: Silence) async throws {
            let server = try await Self.server(silence) {}
            // Nothing but the limit ends the call, so that the speed of the machine does not decide.
            let failure = await Self.failure(of: kind, server, limit: .milliseconds(50))
            guard case .timedOut(_, .milliseconds(50)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(failure?.description.contains("no complete response within 0.05 s") == true)
            await server.allClosed()
            await server.stop()
        }

        @Test(
            "A status that HTTP does not have is an invalid response, and ends no process",
            arguments: ["000", "020", "099"], ["", "HTTP/1.1 100 Continue\r\n\r\n"])
        func invalidStatus(_ status: String, interim: String) async throws {
            for kind in TransportKind.allCases where [.asyncHTTPClient, .asyncHTTPClientInMemory].contains(kind) {
                let server = try await WireServer.start { connection in
                    _ = try await connection.readRequest()
                    try await connection.write(interim + "HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\nab")
                    await connection.closed()
                }
                let failure = await Self.failure(of: kind, server, limit: .seconds(3_000))
                guard case .invalidResponse = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                await server.allClosed()
                await server.stop()
            }
        }

        @Test("A cancelled call ends its exchange", arguments: TransportKind.allCases, Silence.allCases)
        func cancel(_ kind: TransportKind, silence: Silence) async throws {
            let isSilent = Signal()
            let server = try await Self.server(silence) { isSilent.fire() }
            let call = Task { await Self.failure(of: kind, server, limit: .seconds(3_000)) }
            await isSilent.wait()
            call.cancel()
            #expect(await call.value?.isCancelled == true)
            await server.allClosed()
            await server.stop()
        }

        private static func server(
            _ silence: Silence, isSilent: @escaping @Sendable () -> Void
        ) async throws -> WireServer {
            try await WireServer.start { connection in
                _ = try await connection.readRequest()
                if silence == .inBody {
                    try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1,2,")
                }
                isSilent()
                await connection.closed()
            }
        }

        private static func failure(
            of kind: TransportKind, _ server: WireServer, limit: Duration
        ) async -> NetworkError? {
            var config = NetworkConfig()
            config.timeout = limit
            config.retry = .never
            let client = NetworkClient(
                baseURL: BaseURL("http://\(server.authority)"), config: config, transport: kind.make())
            do {
                let _: [Int] = try await client.send(Call<[Int]>.get("/"))
                return nil
            } catch {
                return error
            }
        }
    }
}
