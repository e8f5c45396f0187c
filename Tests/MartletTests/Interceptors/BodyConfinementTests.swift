import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Bodies of interceptors and third parties", .timeLimit(.minutes(10))) struct BodyConfinementTests {
    private static let thirdParty = "https://files.example.net/a"

    /// Changes the body and its type in one of the two hooks.
    private func changing(
        _ phase: Phase, _ text: String, _ more: @escaping @Sendable (inout HTTPRequest) -> Void = { _ in }
    )
        -> ClosureInterceptor
    {
        let change: ClosureInterceptor.Change = { request, context in
            context.appendToBody(text)
            request.headerFields[.contentType] = "application/\(text)"
            more(&request)
        }
        return phase == .prepare ? ClosureInterceptor(onPrepare: change) : ClosureInterceptor(onAdapt: change)
    }

    @Test("an endpoint of a third party sends its own body", arguments: Phase.allCases)
    func endpointOfThirdParty(phase: Phase) async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) { $0.interceptors = [changing(phase, "ours")] }
        try await client.send(Post(Self.thirdParty))
        let sent = try #require(transport.requests.last)
        #expect(sent.text == "x")
        #expect(sent.headers[.contentType]?.hasPrefix("text/plain") == true)
        try await client.send(Post("/a"))
        #expect(transport.requests.last?.text == "xours")
        #expect(transport.requests.last?.headers[.contentType] == "application/ours")
    }

    @Test(
        "an interceptor that sends a request to a third party takes no body of another along",
        arguments: Phase.allCases)
    func movedWithoutBody(phase: Phase) async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.interceptors = [
                changing(phase, "before"),
                ClosureInterceptor(onAdapt: { request, _ in request.authority = "files.example.net" }),
                changing(phase, "after"),
            ]
        }
        try await client.send(Post("/a"))
        let sent = try #require(transport.requests.last)
        #expect(sent.request.authority == "files.example.net")
        #expect(sent.text == "x")
        #expect(sent.headers[.contentType]?.hasPrefix("text/plain") == true)
    }

    @Test("an interceptor that sends a request to a third party sends its own body there", arguments: Phase.allCases)
    func movedWithBody(phase: Phase) async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.interceptors = [
                changing(phase, "mirror") { $0.authority = "files.example.net" }, changing(phase, "after"),
            ]
        }
        try await client.send(Post("/a"))
        let sent = try #require(transport.requests.last)
        #expect(sent.request.authority == "files.example.net")
        #expect(sent.text == "xmirror")
        #expect(sent.headers[.contentType] == "application/mirror")
    }

    @Test("a body that an interceptor has prepared goes along if it sends the request to a third party later")
    func preparedBeforeMove() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.interceptors = [
                ClosureInterceptor(
                    onPrepare: { $1.appendToBody("own") },
                    onAdapt: { request, _ in request.authority = "files.example.net" })
            ]
        }
        try await client.send(Post("/a"))
        #expect(transport.requests.map(\.text) == ["xown"])
    }
}
