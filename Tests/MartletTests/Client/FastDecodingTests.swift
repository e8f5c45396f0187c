import Foundation
import Martlet
import MartletJSON
import MartletTesting
import Testing

@Suite("Responses with MartletJSONDecoder", .timeLimit(.minutes(10))) struct FastDecodingTests {
    private struct User: Decodable, Sendable, Equatable {
        var name: String
        var since: Date
    }

    private struct Names: Decodable, Sendable {
        var firstName: String
    }

    @Test(
        "it reads the same values as the default decoder, dates included, with and without an envelope",
        arguments: ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05+09:00"], [true, false])
    func sameValues(since: String, inEnvelope: Bool) async throws {
        let user = #"{"name":"Ada","since":"\#(since)"}"#
        let body = inEnvelope ? #"{"success":true,"code":"OK","data":\#(user)}"# : user
        var users: [User] = []
        for decoder: any ResponseDecoder in [JSONDecoder.martlet, MartletJSONDecoder()] {
            users.append(try await answering(body, inEnvelope, decoder).send(Get("/a", .none)))
        }
        #expect(users[0] == users[1])
        #expect(users[1].name == "Ada")
    }

    @Test("strategies that the app has set stay") func strategies() async throws {
        var decoder = MartletJSONDecoder()
        decoder.dateDecodingStrategy = .deferredToDate
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let user: User = try await answering(#"{"name":"Ada","since":7.5}"#, false, decoder).send(Get("/a", .none))
        #expect(user.since == Date(timeIntervalSinceReferenceDate: 7.5))
        let names: Names = try await answering(#"{"success":true,"data":{"first_name":"Ada"}}"#, true, decoder)
            .send(Get("/a", .none))
        #expect(names.firstName == "Ada")
    }

    @Test(
        "an error names the coding path and the reason as with the default decoder",
        arguments: [#"{"name":7}"#, #"{"name":"Ada"}"#, #"{"name":"Ada","since":"tomorrow"}"#, "[]"])
    func errors(user: String) async throws {
        var reasons: [String] = []
        for decoder: any ResponseDecoder in [JSONDecoder.martlet, MartletJSONDecoder()] {
            let client = answering(#"{"success":true,"data":[\#(user)]}"#, true, decoder)
            let failure = await error { _ = try await client.send(Get("/a", .none), as: [User].self) }
            guard case .decoding(_, let reason) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            reasons.append("\(reason.codingPath): \(reason.reason)")
        }
        #expect(reasons[0] == reasons[1])
        #expect(reasons[0].hasPrefix("data[0]"))
    }

    private func answering(_ body: String, _ inEnvelope: Bool, _ decoder: any ResponseDecoder) -> NetworkClient {
        client(StubTransport { _ in .json(body) }) {
            $0.envelope = inEnvelope ? ResponseEnvelope() : nil
            $0.decoder = decoder
            $0.retry = .never
        }
    }
}
