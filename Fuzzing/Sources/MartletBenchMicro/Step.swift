import Foundation
import HTTPTypes
import MartletJSON

@testable import Martlet
@testable import MartletStorage

/// A step of a call, repeated to measure it.
struct Step: Sendable {
    let name: String
    /// The repetitions of the shorter and the longer run under valgrind, which is some fifty times slower.
    var counted = (100, 600)
    let run: @Sendable (_ repetitions: Int) async throws -> Void

    static func all() async throws -> [Step] {
        let body = Data(document.utf8)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: Instant(body: body))
        try await tokens.signIn(
            with: Tokens(accessToken: "access", refreshToken: "refresh", lifetime: .seconds(3600)))
        let client = NetworkClient(tokens: tokens)
        var config = NetworkConfig()
        config.decoder = MartletJSONDecoder()
        let fastClient = NetworkClient(tokens: tokens, config: config)
        return [
            asking(tokens), stepping(tokens), signing(with: tokens), building(with: client),
            decoding("decode with JSONDecoder", JSONDecoder.martlet, body),
            decoding("decode with MartletJSONDecoder", MartletJSONDecoder(), body),
            calling("a call without a network, undecoded") { _ = try await client.data(for: GetPage()) },
            calling("a call without a network, JSONDecoder") { _ = try await client.send(GetPage()) },
            calling("a call without a network, MartletJSONDecoder") { _ = try await fastClient.send(GetPage()) },
            masking("mask 7 MB of hostile text, in 10 KB", texts, bytes: 10_000) { Redaction.redact($0) },
            masking("mask 7 MB of hostile text, in 1 MB", texts, bytes: 1_000_000) { Redaction.redact($0) },
            masking("mask 4 MB of hostile URLs, in 10 KB", paths, bytes: 10_000) {
                Redaction.redactURL("https://h/" + $0)
            },
            masking("mask 4 MB of hostile URLs, in 1 MB", paths, bytes: 1_000_000) {
                Redaction.redactURL("https://h/" + $0)
            },
            masking("mask 4 MB of hostile forms, in 10 KB", forms, bytes: 10_000) { Redaction.redactForm($0[...]) },
            masking("mask 4 MB of hostile forms, in 1 MB", forms, bytes: 1_000_000) { Redaction.redactForm($0[...]) },
        ]
    }

    private static func asking(_ tokens: TokenManager) -> Step {
        Step(name: "fresh token") { repetitions in
            for _ in 0..<repetitions {
                guard tokens.beginCall(at: tokens.time.uptime).credential != nil else { throw UnexpectedResultError() }
            }
        }
    }

    private static func stepping(_ tokens: TokenManager) -> Step {
        let machine = tokens.inspect(\.machine)
        let owner = tokens.currentOwner
        let now = tokens.time.uptime
        return Step(name: "state-machine step") { repetitions in
            var machine = machine
            for waiter in 0..<repetitions {
                guard case .token = machine.tokenRequested(for: owner, by: waiter, at: now) else {
                    throw UnexpectedResultError()
                }
            }
        }
    }

    private static func signing(with tokens: TokenManager) -> Step {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/items")
        return Step(name: "sign a request of another client") { repetitions in
            for _ in 0..<repetitions {
                var request = request
                guard try await tokens.sign(&request) != nil else { throw UnexpectedResultError() }
            }
        }
    }

    private static func building(with client: NetworkClient) -> Step {
        Step(name: "build a request") { repetitions in
            let call = client.pipeline.makeCall(GetPage(), accept: "application/json")
            for _ in 0..<repetitions { _ = try client.pipeline.build(call, length: nil) }
        }
    }

    private static func decoding(_ name: String, _ decoder: any ResponseDecoder, _ body: Data) -> Step {
        Step(name: name) { repetitions in
            for _ in 0..<repetitions { _ = try decoder.decode(Page.self, from: body) }
        }
    }

    private static func calling(_ name: String, _ call: @escaping @Sendable () async throws -> Void) -> Step {
        Step(name: name) { repetitions in
            for _ in 0..<repetitions { try await call() }
        }
    }

    /// Texts that open objects, quotes and elements without an end.
    private static let texts = [
        "token:{", "password:[\"", "password=a,", "a<token>b</x>", "<password a=\"", "'cookie=\"", "://",
    ]
    /// Long paths and queries of secret names, of escapes, and of objects without an end.
    private static let paths = ["a/token=", "%2570assword/", "?token=%7Btoken%3D", "//a@"]
    private static let forms = ["password[a]", "pin%5B%5D=a&", "a=%7B%22token%22%3A&", "%25"]

    /// Masks a megabyte of each text per repetition, in strings of `bytes`. If the time is linear in the length of a
    /// string, two such steps take the same time.
    private static func masking(
        _ name: String, _ pieces: [String], bytes: Int, _ mask: @escaping @Sendable (String) -> String
    ) -> Step {
        let strings = pieces.map { String(repeating: $0, count: bytes / $0.utf8.count) }
        return Step(name: name, counted: (1, 2)) { repetitions in
            for _ in 0..<(repetitions * 1_000_000 / bytes) {
                for string in strings where mask(string) == "" { throw UnexpectedResultError() }
            }
        }
    }

    /// Twenty structs in 915 bytes, like the response of `make bench`.
    private static let document: String = {
        let items = (0..<20).map { index in
            let name = index < 6 ? "B" : "A\(index % 10)"
            return #"{"id":\#(10 + index),"name":"\#(name)","price":\#(index % 10).25,"ok":true}"#
        }
        return #"{"page":10,"items":[\#(items.joined(separator: ","))]}"#
    }()
}

struct UnexpectedResultError: Error {}

private struct Page: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        var id: Int
        var name: String
        var price: Double
        var ok: Bool
    }

    var page: Int
    var items: [Item]
}

private struct GetPage: APIRequest {
    typealias Response = Page
    let path: RequestPath = "/items"
    var authentication: AuthenticationRequirement { .required }
}

/// Responds at once.
private struct Instant: Transport {
    let body: Data

    func send(
        _ request: HTTPRequest, body outgoing: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        (HTTPResponse(status: .ok), ByteStream(body))
    }
}
