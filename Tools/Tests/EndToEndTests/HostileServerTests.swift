internal import Foundation
internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Hostile servers", .timeLimit(.minutes(10)))
    struct HostileServerTests {
        /// The result of a call to a misbehaving server.
        enum Outcome: String, Sendable {
            case timedOut, connectionLost, cannotConnect, invalidResponse, responseTooLarge, response

            init(_ result: Result<Data, NetworkError>) throws {
                switch result {
                case .success: self = .response
                case .failure(.timedOut): self = .timedOut
                case .failure(.connectionLost): self = .connectionLost
                case .failure(.cannotConnect): self = .cannotConnect
                case .failure(.invalidResponse): self = .invalidResponse
                case .failure(.responseTooLarge): self = .responseTooLarge
                case .failure(let other): throw other
                }
            }
        }

        /// A misbehavior, with the outcomes that transports may have.
        struct Case: Sendable, CustomTestStringConvertible {
            let misbehavior: Misbehavior
            let outcomes: Set<Outcome>
            let needs: Limitation?

            init(_ misbehavior: Misbehavior, _ outcomes: Outcome..., needs: Limitation? = nil) {
                self.misbehavior = misbehavior
                self.outcomes = Set(outcomes)
                self.needs = needs
            }

            var testDescription: String { "\(misbehavior)" }
        }

        /// A case over a transport that supports it.
        struct Run: Sendable, CustomTestStringConvertible {
            let wire: Wire
            let hostile: Case

            var testDescription: String { "\(wire), \(hostile.misbehavior)" }
        }

        static let runs = cases.flatMap { hostile in
            (hostile.needs?.wires ?? Wire.allCases).map { Run(wire: $0, hostile: hostile) }
        }

        static let cases = [
            Case(.acceptsAndNeverResponds, .timedOut),
            Case(.closesImmediately, .connectionLost),
            Case(.resetsConnection, .connectionLost),
            Case(.closesMidHead, .connectionLost, needs: .survivingHalfAHead),
            Case(.closesMidBody(), .connectionLost),
            // The announced bytes are complete; the bytes after them belong to no response.
            Case(.sendsTooMuch(), .response, .invalidResponse),
            Case(.endlessHeaders(), .invalidResponse),
            Case(.endlessBody, .responseTooLarge, needs: .leavingAnEndlessResponse),
            Case(.slowDrip(interval: .milliseconds(5)), .timedOut),
            Case(.garbage, .invalidResponse),
            Case(.badChunkedEncoding, .invalidResponse, .connectionLost),
            Case(.invalidStatusLine, .invalidResponse),
        ]

        @Test("Each misbehavior causes a typed error, and its connection is closed", arguments: runs)
        func misbehavior(run: Run) async throws {
            let (wire, hostile) = (run.wire, run.hostile)
            try await Self.withClient(of: hostile.misbehavior, over: wire) { client, server in
                var call = AnyCall.get("/")
                call.timeout = .seconds(1)
                let outcome = try Outcome(await Self.result(of: call, client))
                #expect(hostile.outcomes.contains(outcome), "\(outcome)")
                // A transport may keep the connection after a response that it considers complete.
                if outcome != .response { try await server.waitUntilClosed(server.connectionsAccepted) }
            }
        }

        @Test("A hostile token endpoint does not end the session", arguments: runs)
        func tokenEndpoint(run: Run) async throws {
            let (wire, hostile) = (run.wire, run.hostile)
            let server = try await MisbehavingServer.start(hostile.misbehavior)
            let transport = RecordingTransport(try wire.transport())
            var policy = SessionPolicy()
            policy.refreshTimeout = .seconds(1)
            let tokens = TokenManager(
                baseURL: BaseURL(server.baseURL), store: .inMemory, refresher: .json(path: "/refresh"), policy: policy,
                transport: transport)
            try await tokens.signIn(with: Tokens(accessToken: "access", refreshToken: "refresh"))
            let error = await #expect(throws: SessionError.self) { try await tokens.refresh() }
            if case .refreshFailed = error {} else { Issue.record("\(String(describing: error))") }
            #expect(tokens.state.isSignedIn)
            if !hostile.outcomes.contains(.response) { try await server.waitUntilClosed(server.connectionsAccepted) }
            await transport.shutdown()
            await server.stop()
        }

        @Test("A cancelled call closes its connection", arguments: Wire.allCases)
        func cancelled(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                app.controls.inject("GET /feed", .hang)
                let task = Task { await Self.result(of: AnyCall.get("/feed"), app.client) }
                // Wait for the request: a connection that carried none may stay in the pool.
                try await app.controls.waitUntilHanging()
                task.cancel()
                guard case .failure(.cancelled) = await task.value else { return #expect(Bool(false), "not cancelled") }
                try await app.controls.waitUntilHangsEnded()
            }
        }

        @Test("A refused connection", arguments: Wire.allCases)
        func refusedConnection(wire: Wire) async throws {
            let server = try await MisbehavingServer.start(.closesImmediately)
            await server.stop()
            let transport = RecordingTransport(try wire.transport())
            let client = NetworkClient(baseURL: BaseURL(server.baseURL), config: Self.config, transport: transport)
            guard case .failure(.cannotConnect) = await Self.result(of: AnyCall.get("/"), client) else {
                return #expect(Bool(false), "not a refused connection")
            }
            await transport.shutdown()
        }

        @Test(
            "An invalid base URL fails the call before anything is sent", arguments: Wire.allCases,
            [
                "", "example.org", "ftp://example.org", "http://", "http://[::1", "http://a b/", "http://host:99999/",
                "http://u:p@host/",
            ])
        func badBaseURL(wire: Wire, text: String) async throws {
            let transport = RecordingTransport(try wire.transport())
            let client = NetworkClient(baseURL: BaseURL(text), config: Self.config, transport: transport)
            guard case .failure(.invalidRequest(_, let reason)) = await Self.result(of: AnyCall.get("/x"), client)
            else {
                return #expect(Bool(false), "accepted")
            }
            #expect(!reason.isEmpty && transport.sent.isEmpty)
            await transport.shutdown()
        }

        @Test("Plain HTTP to another machine is rejected before anything is sent", arguments: Wire.allCases)
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
            "Invalid JSON is a decoding error that shows the body", arguments: Wire.allCases,
            ["<html><body>Out of order</body></html>", "{\"id\": 1, ", "\u{0}\u{1}", "null", "[]"])
        func notJSON(wire: Wire, body: String) async throws {
            for setup in [Setup.reissue, .envelope] {
                try await App.run(setup, over: wire) { app in
                    app.controls.inject("GET /feed", .respond(.init(200, body: body, contentType: "text/html")))
                    let error = await #expect(throws: NetworkError.self) {
                        try await app.client.send(AnyCall.get("/feed"), as: User.self)
                    }
                    guard case .decoding(_, let failure) = error else { return #expect(Bool(false), "decoded") }
                    #expect(failure.response.body == Data(body.utf8) && failure.description.contains("User"))
                }
            }
        }

        @Test("An error page is an error with its status", arguments: Wire.allCases, [400, 502, 503])
        func errorPage(wire: Wire, status: Int) async throws {
            for setup in [Setup.reissue, .envelope, .oauth2] {
                try await App.run(setup, over: wire) { app in
                    let page = FaultRule.Response(status, body: "<html>Bad gateway</html>", contentType: "text/html")
                    app.controls.inject("GET /feed", .respond(page))
                    guard case .unacceptableStatus(_, let response) = try await app.failure(of: AnyCall.get("/feed"))
                    else {
                        return #expect(Bool(false), "not an error with the status")
                    }
                    #expect(response.status == status)
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
        of misbehavior: Misbehavior, over wire: Wire,
        _ test: (NetworkClient, MisbehavingServer) async throws -> Void
    ) async throws {
        let server = try await MisbehavingServer.start(misbehavior)
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
