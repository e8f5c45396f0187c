import Foundation
import HTTPTypes
import Martlet
import Testing

extension TransportContract {
    /// Policies that a transport leaves to the client: redirects, cookies, challenges and caches.
    @Suite("No policy", .timeLimit(.minutes(10)))
    struct Policy {
        @Test(arguments: TransportKind.allCases, [301, 302, 303, 307, 308])
        func redirect(_ kind: TransportKind, status: Int) async throws {
            let count = Locker(0)
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    count.with { $0 += 1 }
                    try await connection.respond(
                        "\(status) Elsewhere", fields: ["Location: /elsewhere", "Set-Cookie: a=1"], body: "over there")
                }
            }
            let transport = kind.make()
            let response = try await transport.send(
                request(.post, to: server, [.contentType: "text/plain"]), body: OutgoingBody(Data("x".utf8)))
            #expect(response.head.status.code == status)
            #expect(response.head.headerFields[.location] == "/elsewhere")
            #expect(try await response.body.collect(upTo: 100) == Data("over there".utf8))
            #expect(count.with { $0 } == 1)
            await server.stop()
        }

        @Test("A 3xx without a `Location` is a response", arguments: TransportKind.allCases)
        func redirectWithoutLocation(_ kind: TransportKind) async throws {
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil { try await connection.respond("302 Found") }
            }
            let response = try await kind.make().send(request(to: server), body: nil)
            #expect(response.head.status.code == 302)
            #expect(try await response.body.collect(upTo: 100).isEmpty)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func cookiesAreNotKept(_ kind: TransportKind) async throws {
            let seen = Locker<[String?]>([])
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0.append(request["cookie"]) }
                    try await connection.respond(fields: ["Set-Cookie: a=1; Path=/"])
                }
            }
            let transport = kind.make()
            for _ in 0..<2 { _ = try await transport.send(request(to: server), body: nil).body.collect(upTo: 10) }
            #expect(seen.with { $0 } == [nil, nil])
            await server.stop()
        }

        @Test(
            arguments: TransportKind.allCases,
            ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Negotiate", "NTLM"])
        func challenge(_ kind: TransportKind, challenge: String) async throws {
            let count = Locker(0)
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    count.with { $0 += 1 }
                    try await connection.respond(
                        "401 Unauthorized", fields: ["WWW-Authenticate: \(challenge)"], body: "who are you?")
                }
            }
            let transport = kind.make()
            for attempt in 1...2 {
                let response = try await transport.send(request(to: server), body: nil)
                #expect(response.head.status == .unauthorized)
                #expect(response.head.headerFields[.wwwAuthenticate] == challenge)
                #expect(try await response.body.collect(upTo: 100) == Data("who are you?".utf8))
                #expect(count.with { $0 } == attempt)
            }
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func nothingIsCached(_ kind: TransportKind) async throws {
            let count = Locker(0)
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    let number = count.with { count in
                        count += 1
                        return count
                    }
                    try await connection.respond(
                        fields: ["Cache-Control: max-age=1000", "ETag: \"1\""], body: "\(number)")
                }
            }
            let transport = kind.make()
            for number in 1...2 {
                let body = try await transport.send(request(to: server), body: nil).body.collect(upTo: 10)
                #expect(body == Data("\(number)".utf8))
            }
            await server.stop()
        }
    }
}
