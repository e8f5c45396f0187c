#if os(Linux) && (URLSession || !AsyncHTTPClient)
    import Foundation
    import FoundationNetworking
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @Suite("The configuration of a background session", .noBlockingCalls, .timeLimit(.minutes(10)))
    struct BackgroundConfigurationTests {
        @Test("a transport for ordinary requests refuses it before anything is sent") func refused() async throws {
            let configuration = URLSessionConfiguration.ephemeral
            // FoundationNetworking has no background sessions, but has the property that tells them apart.
            configuration.identifier = "com.example.transfers"
            let transport = URLSessionTransport(configuration: configuration)
            // Port 9 would refuse the connection, which is another error.
            let client = NetworkClient(baseURL: "http://127.0.0.1:9", transport: transport)
            let ping = Call<NoContent>.get("/", authentication: .none)
            let calls: [() async throws -> Void] = [
                { try await client.send(ping) }, { _ = try await client.stream(ping) },
            ]
            for call in calls {
                let failure = await error(call)
                guard case .invalidRequest(_, let reason) = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                #expect(reason.contains("MartletBackground"))
            }
            let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:9", path: "/")
            await #expect(throws: TransportError.self) {
                _ = try await transport.makeIsolatedTransport().send(request, body: nil)
            }
        }
    }
#endif
