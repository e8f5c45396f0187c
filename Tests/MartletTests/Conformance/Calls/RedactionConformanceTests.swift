import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

/// Sends calls whose path contains a token through failing servers, and searches everything that comes out.
@Suite("Conformance: tokens in paths", .timeLimit(.minutes(10))) struct RedactionConformanceTests {
    @Test("C82: a token in a path is masked in every error of a call", arguments: Token.all)
    func errors(token: Token) async {
        let output = Output(token)
        for server in servers(quoting: token) {
            let client = client(server) { configure(&$0, output) }
            for path in ["/reset/\(token.text)/confirm", "https://files.example.net/\(token.text)"] {
                let endpoint = Quoting(path: path)
                output.add(await error { let _: [String: Int] = try await client.send(endpoint) })
                output.add(
                    await error { for try await _ in client.serverSentEvents(from: endpoint, reconnects: false) {} })
                output.add(await error { _ = try await client.stream(endpoint).value.collect(upTo: 1 << 20) })
                output.add(
                    await error { try await client.download(endpoint, to: "/nowhere/\(token.text)") })
            }
        }
        output.expectNoToken()
        // The rest of the path stays readable.
        #expect(output.texts.contains { $0.contains("/reset/<redacted>/confirm") })
    }

    @Test("C82: a token in a path is masked in the errors of calls that are not sent", arguments: Token.all)
    func unsent(token: Token) async throws {
        let output = Output(token)
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) { configure(&$0, output) }
        let padding = String(repeating: "a/", count: 80)
        for path in [
            "//host/\(token.text)", "/../\(token.text)", "/x/../\(token.text)/y", "http://example.net/\(token.text)",
            "https://exa mple/\(token.text)", "https://ada:pw@example.net/\(token.text)",
            "https://example.net:99999/\(padding)\(token.text)",
        ] {
            output.add(await error { try await client.send(Quoting(path: path)) })
        }
        let endpoint = Quoting(path: "/x/\(token.text)")
        let guests = GuestAuthService(client, path: "/x/\(token.text)")
        let remote = try #require(URL(string: "https://files.example.net/\(token.text)"))
        output.add(await error { try await client.download(endpoint, to: remote) })
        output.add(await error { try await client.signIn(endpoint, as: NoContent.self) })
        output.add(await error { try await guests.register(name: "Ada") })
        output.add(await error { try await MockAPIClient().send(endpoint) }?.call)
        for call in [
            CallDescription(unsent: endpoint), CallDescription(unsent: Quoting(path: remote.absoluteString)),
            CallDescription(method: "GET", url: remote.absoluteString, attempts: 1),
        ] {
            output.add(call)
            output.show(NetworkError.connectionLost(call, reason: "GET \(remote) failed"))
            output.show(NetworkError.insecureURL(call, url: "\(remote)"))
        }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            output.add(await error { try await guests.register(name: "Ada") })
            output.add(await error { try await client.send(endpoint) })
        }
        await cancelled.value
        #expect(try client.curlCommand(for: endpoint).contains("/x/<redacted>"))
        output.add(try client.curlCommand(for: Quoting(path: "/x/\(token.text)", referer: "\(remote)")))
        output.expectNoToken()
    }

    @Test(
        "C82: a token in the path of a token endpoint is masked in everything that a session reports",
        arguments: Token.all)
    func session(token: Token) async throws {
        let output = Output(token)
        for prefix in ["/auth/", "https://login.example.net/", "http://login.example.net/", "//auth/"] {
            for server in servers(quoting: token) {
                let path = prefix + token.text
                let tokens = TokenManager(
                    baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: path),
                    revoker: .json(path: path), transport: server, time: ManualTimeSource(), random: { $0.upperBound })
                await observe(tokens, output, hasRevoker: true)
            }
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                throw RefreshError(.refresher, description: "POST /auth/\(token.text) failed")
            },
            transport: StubTransport { _ in .status(204) }, time: ManualTimeSource())
        await observe(tokens, output, hasRevoker: false)
        var failure = RefreshError(.connection, description: "")
        failure.description = "POST /auth/\(token.text) failed"
        output.add(failure)
        output.expectNoToken()
    }

    @Test(
        "C82: ordinary words, ids and numbers in a path stay readable",
        arguments: [
            "/articles/2024-the-long-way-home-to-linux", "/users/6BA7B810-9DAD-11D1-80B4-00C04FD430C8/picture",
            "/films/12345678901234567890", "/projects/my-group%2Fmy-project-for-linux-2024/issues",
            "/caf%C3%A9s/gr%C3%BC%C3%9Fe-aus-k%C3%B6ln",
        ])
    func ordinary(path: String) async throws {
        let client = client(StubTransport { _ in throw TransportError.connectionLost("GET https://h\(path) failed") }) {
            $0.retry = .never
        }
        let failure = try #require(await error { try await client.send(Get(path, .none)) })
        #expect(failure.call.url == "https://api.example.com" + path)
        #expect("\(failure)".contains("GET https://h\(path) failed"))
        #expect(CallDescription(unsent: Get(path)).url == path)
    }

    /// Reports everything about a refresh and a revocation.
    private func observe(_ tokens: TokenManager, _ output: Output, hasRevoker: Bool) async {
        let events = tokens.events
        _ = try? await tokens.signIn(with: .fresh())
        do { try await tokens.refresh() } catch { output.add(error) }
        output.add(tokens.state)
        let client = NetworkClient(tokens: tokens, config: config { configure(&$0, output) })
        output.add(await error { try await client.send(Get("/me")) })
        let isRevoked = hasRevoker && tokens.state.isSignedIn
        await tokens.signOut()
        for await event in events {
            output.add(event)
            output.add(LogLine(event))
            output.add(LogLine(event).impersonalText + LogLine(event).personalText)
            switch event {
            case .revoked, .revocationFailed: return
            case .signedOut: if !isRevoked { return }
            default: break
            }
        }
    }

    private func configure(_ config: inout NetworkConfig, _ output: Output) {
        config.time = ManualTimeSource()
        config.retry = RetryPolicy(maximumAttempts: 2, firstDelay: .zero)
        config.observers = [
            output, LogObserver(level: .debug) { output.add($0) }, .log(level: .debug) { output.add($1) },
            .curl { output.add($0) },
        ]
        config.interceptors = [ContextRecorder(output: output)]
    }
}

/// Records the description that a context gives of its call.
private struct ContextRecorder: RequestInterceptor {
    let output: Output

    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
        output.add(context.call)
        output.add(response)
    }
}
