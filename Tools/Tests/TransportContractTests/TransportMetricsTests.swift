import Foundation
import HTTPTypes
import Martlet
import Testing

extension TransportContract {
    /// The metrics that an observer gets for each request.
    @Suite("Metrics", .timeLimit(.minutes(10)))
    struct Metrics {
        private final class Watch: NetworkObserver {
            let seen = Locker<[(call: ObservedCall, response: ObservedResponse?)]>([])

            func observe(_ event: CallEvent) {
                switch event {
                case .received(let call, let response): seen.with { $0.append((call, response)) }
                case .attemptFailed(let call, _): seen.with { $0.append((call, nil)) }
                default: break
                }
            }
        }

        private static let body = #"{"accessToken":"q8Zk3Vt1Lx9Rb7Yw2Np5Hd6Mf4Jc0Gs8EaTi","page":1}"#

        private static func client(_ kind: TransportKind, _ server: WireServer, _ watch: Watch) -> NetworkClient {
            var config = NetworkConfig()
            config.observers = [watch]
            config.retry = .never
            return NetworkClient(
                baseURL: BaseURL("http://\(server.authority)"), config: config, transport: kind.make())
        }

        @Test("A response has its times, its sizes and its connection", arguments: TransportKind.allCases)
        func complete(_ kind: TransportKind) async throws {
            let connections = Locker(0)
            let server = try await WireServer.start { connection in
                connections.with { $0 += 1 }
                while try await connection.readRequest() != nil {
                    try await connection.respond(fields: ["Content-Type: application/json"], body: Self.body)
                }
            }
            let watch = Watch()
            let client = Self.client(kind, server, watch)
            _ = try await client.data(for: Call<NoContent>.get("/a"))
            let isSameConnection = connections.with { $0 } == 1
            _ = try await client.data(for: Call<NoContent>.post("/b", .json(["page": 1])))
            let seen = watch.seen.with { $0 }
            #expect(seen.count == 2)
            for (call, response) in seen {
                let metrics = try #require(call.metrics)
                let (first, receiving) = (try #require(metrics.firstByte), try #require(metrics.receiving))
                #expect(first > .zero && receiving >= .zero && first + receiving <= call.elapsed)
                let text = try #require(response?.bodyText())
                #expect(text.contains(#""page":1"#) && !text.contains("q8Zk3Vt1"))
            }
            guard ![.urlSession, .urlSessionInMemory].contains(kind) else { return await server.stop() }
            let metrics = seen.compactMap(\.call.metrics)
            #expect(metrics.map(\.protocolName) == ["http/1.1", "http/1.1"])
            #expect(metrics.map(\.bodyBytesReceived) == [Int64(Self.body.utf8.count), Int64(Self.body.utf8.count)])
            #expect(metrics.map(\.bodyBytesSent) == [0, Int64(#"{"page":1}"#.utf8.count)])
            #expect(metrics.first?.isReused == false)
            if isSameConnection, connections.with({ $0 }) == 1 { #expect(metrics.last?.isReused == true) }
            await server.stop()
        }

        @Test("A connection that breaks in the body has the time of its head", arguments: TransportKind.allCases)
        func broken(_ kind: TransportKind) async throws {
            try kind.needs(.brokenOffFiles)
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1,2,")
            }
            let watch = Watch()
            let client = Self.client(kind, server, watch)
            _ = try? await client.data(for: Call<NoContent>.get("/a"))
            let call = try #require(watch.seen.with { $0.first?.call })
            #expect(call.metrics?.firstByte != nil && call.metrics?.receiving == nil)
            await server.stop()
        }
    }
}
