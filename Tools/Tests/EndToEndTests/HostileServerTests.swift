internal import Foundation
internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Hostile servers")
    struct HostileServerTests {
        /// What a call to such a server comes to.
        enum Outcome: String, Sendable {
            case timedOut, connectionLost, cannotConnect, invalidResponse, responseTooLarge, answer

            init(_ result: Result<Data, NetworkError>) throws {
                switch result {
                case .success: self = .answer
                case .failure(.timedOut): self = .timedOut
                case .failure(.connectionLost): self = .connectionLost
                case .failure(.cannotConnect): self = .cannotConnect
                case .failure(.invalidResponse): self = .invalidResponse
                case .failure(.responseTooLarge): self = .responseTooLarge
                case .failure(let other): throw other
                }
            }
        }

        /// One misbehaviour, and what each transport may make of it.
        struct Case: Sendable, CustomTestStringConvertible {
            let misbehaviour: Misbehaviour
            let outcomes: Set<Outcome>
            let needs: Limitation?

            init(_ misbehaviour: Misbehaviour, _ outcomes: Outcome..., needs: Limitation? = nil) {
                self.misbehaviour = misbehaviour
                self.outcomes = Set(outcomes)
                self.needs = needs
            }

            var testDescription: String { "\(misbehaviour)" }
        }

        /// A case over a transport that survives it.
        struct Run: Sendable, CustomTestStringConvertible {
            let wire: Wire
            let hostile: Case

            var testDescription: String { "\(wire), \(hostile.misbehaviour)" }
        }

        static let runs = cases.flatMap { hostile in
            (hostile.needs?.wires ?? Wire.allCases).map { Run(wire: $0, hostile: hostile) }
        }

        static let cases = [
            Case(.acceptsAndNeverAnswers, .timedOut),
            Case(.closesImmediately, .connectionLost),
            Case(.resetsConnection, .connectionLost),
            Case(.closesMidHead, .connectionLost, needs: .survivingHalfAHead),
            Case(.closesMidBody(), .connectionLost),
            // The announced bytes are all there; what follows them belongs to nobody.
            Case(.sendsTooMuch(), .answer, .invalidResponse),
            Case(.endlessHeaders(), .invalidResponse),
            Case(.endlessBody, .responseTooLarge, needs: .leavingAnEndlessAnswer),
            Case(.slowDrip(interval: .milliseconds(5)), .timedOut),
            Case(.garbage, .invalidResponse),
            Case(.badChunkedEncoding, .invalidResponse, .connectionLost),
            Case(.invalidStatusLine, .invalidResponse),
        ]

        @Test("Each misbehaviour is a typed error, and its connection is closed", arguments: runs)
        func misbehaviour(run: Run) async throws {
            let (wire, hostile) = (run.wire, run.hostile)
            try await Self.withClient(of: hostile.misbehaviour, over: wire) { client, server in
                var call = AnyCall.get("/")
                call.timeout = .seconds(1)
                let outcome = try Outcome(await Self.result(of: call, client))
                #expect(hostile.outcomes.contains(outcome), "\(outcome)")
                // A transport may keep the connection of what it takes for a whole answer.
                if outcome != .answer { try await server.waitUntilClosed(server.connectionsAccepted) }
            }
        }

        @Test("A hostile token endpoint costs nobody the session", arguments: runs)
        func tokenEndpoint(run: Run) async throws {
            let (wire, hostile) = (run.wire, run.hostile)
            let server = try await MisbehavingServer.start(hostile.misbehaviour)
            let transport = RecordingTransport(try wire.transport())
            var policy = SessionPolicy()
            policy.refreshTimeout = .seconds(1)
            let tokens = TokenManager(
                baseURL: BaseURL(server.baseURL), store: .inMemory, refresher: .json(path: "/refresh"), policy: policy,
                transport: transport)
            try await tokens.signIn(with: TokenBundle(accessToken: "access", refreshToken: "refresh"))
            let error = await #expect(throws: SessionError.self) { try await tokens.refresh() }
            if case .refreshFailed = error {} else { Issue.record("\(String(describing: error))") }
            #expect(tokens.state.isSignedIn)
            if !hostile.outcomes.contains(.answer) { try await server.waitUntilClosed(server.connectionsAccepted) }
            await transport.shutdown()
            await server.stop()
        }

        @Test("A cancelled call lets go of its connection", arguments: Wire.allCases)
        func cancelled(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                app.controls.inject("GET /feed", .hang)
                let task = Task { await Self.result(of: AnyCall.get("/feed"), app.client) }
                // Not just a connection: one that carried no request yet may stay in the pool.
                try await app.controls.waitUntilHanging()
                task.cancel()
                guard case .failure(.cancelled) = await task.value else { return #expect(Bool(false), "not cancelled") }
                try await app.controls.waitUntilHangsEnded()
            }
        }

        @Test("Nobody listens", arguments: Wire.allCases)
        func nobodyListens(wire: Wire) async throws {
            let server = try await MisbehavingServer.start(.closesImmediately)
            await server.stop()
            let transport = RecordingTransport(try wire.transport())
            let client = NetworkClient(baseURL: BaseURL(server.baseURL), config: Self.config, transport: transport)
            guard case .failure(.cannotConnect) = await Self.result(of: AnyCall.get("/"), client) else {
                return #expect(Bool(false), "connected to nobody")
            }
            await transport.shutdown()
        }

        @Test(
            "A base URL that is no good fails the call before anything is sent", arguments: Wire.allCases,
            [
                "", "example.org", "ftp://example.org", "http://", "http://[::1", "http://a b/", "http://host:99999/",
                "http://u:p@host/",
            ])
        func badBaseURL(wire: Wire, text: String) async throws {
            let transport = RecordingTransport(try wire.transport())
            let client = NetworkClient(baseURL: BaseURL(text), config: Self.config, transport: transport)
            guard case .failure(.invalidRequest(_, let problem)) = await Self.result(of: AnyCall.get("/x"), client)
            else {
                return #expect(Bool(false), "accepted")
            }
            #expect(!problem.description.isEmpty && transport.sent.isEmpty)
            await transport.shutdown()
        }

        @Test("Plain http to another machine is refused before anything is sent", arguments: Wire.allCases)
        func insecure(wire: Wire) async throws {
            let transport = RecordingTransport(try wire.transport())
            let client = NetworkClient(baseURL: "http://example.org", config: Self.config, transport: transport)
            guard case .failure(.insecureURL) = await Self.result(of: AnyCall.get("/x"), client) else {
                return #expect(Bool(false), "accepted")
            }
            #expect(transport.sent.isEmpty)
            await transport.shutdown()
        }

        @Test(
            "What is no JSON is a decoding error that shows what came", arguments: Wire.allCases,
            ["<html><body>Out of order</body></html>", "{\"id\": 1, ", "\u{0}\u{1}", "null", "[]"])
        func notJSON(wire: Wire, body: String) async throws {
            for setup in [Setup.reissue, .envelope] {
                try await App.run(setup, over: wire) { app in
                    app.controls.inject("GET /feed", .answer(.init(200, body: body, contentType: "text/html")))
                    let error = await #expect(throws: NetworkError.self) {
                        try await app.client.send(AnyCall.get("/feed"), as: User.self)
                    }
                    guard case .decoding(_, let failure) = error else { return #expect(Bool(false), "decoded") }
                    #expect(failure.answer.body == Data(body.utf8) && failure.description.contains("User"))
                }
            }
        }

        @Test("An error page is an error with its status", arguments: Wire.allCases, [400, 502, 503])
        func errorPage(wire: Wire, status: Int) async throws {
            for setup in [Setup.reissue, .envelope, .oauth2] {
                try await App.run(setup, over: wire) { app in
                    let page = FaultRule.Answer(status, body: "<html>Bad gateway</html>", contentType: "text/html")
                    app.controls.inject("GET /feed", .answer(page))
                    guard case .unacceptableStatus(_, let answer) = try await app.failure(of: AnyCall.get("/feed"))
                    else {
                        return #expect(Bool(false), "not by its status")
                    }
                    #expect(answer.status == status)
                }
            }
        }
    }
}

extension EndToEnd.HostileServerTests {
    private static var config: NetworkConfig {
        var config = NetworkConfig()
        config.retry = .never
        config.maximumResponseBytes = 1 << 20
        return config
    }

    private static func withClient(
        of misbehaviour: Misbehaviour, over wire: Wire,
        _ test: (NetworkClient, MisbehavingServer) async throws -> Void
    ) async throws {
        let server = try await MisbehavingServer.start(misbehaviour)
        let transport = RecordingTransport(try wire.transport())
        do {
            let client = NetworkClient(baseURL: BaseURL(server.baseURL), config: config, transport: transport)
            try await test(client, server)
        } catch {
            Issue.record(error)
        }
        await transport.shutdown()
        await server.stop()
    }

    private static func result(of call: AnyCall, _ client: NetworkClient) async -> Result<Data, NetworkError> {
        do throws(NetworkError) {
            return .success(try await client.data(for: call).value)
        } catch {
            return .failure(error)
        }
    }
}
