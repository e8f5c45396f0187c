internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("TLS and HTTP/2", .timeLimit(.minutes(10)))
    struct TLSTests {
        @Test(
            "HTTP/2 uses one connection for many calls, and a burst makes one refresh",
            arguments: Limitation.trustingAnAuthority.wires)
        func http2(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, backend: { $0.tls = .selfSigned }) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                #expect(await app.burst(50).successes == 50)
                #expect(app.counters.refreshesCalled == 1 && app.counters.reuseDetected == 0)
                // One connection for the calls and one for the refresh.
                #expect(app.counters.connectionsAccepted == 2)
            }
        }

        @Test(
            "HTTP/1.1 over TLS uses a connection for each concurrent call",
            arguments: Limitation.trustingAnAuthority.wires)
        func http1(wire: Wire) async throws {
            try await App.run(.reissue, over: wire, backend: { $0.tls = .selfSigned }) { app in
                let transport = RecordingTransport(
                    try wire.transport(trusting: app.backend.certificateAuthorityPEM, allowsHTTP2: false))
                let client = NetworkClient(baseURL: BaseURL(app.backend.baseURL), transport: transport)
                let gate = app.controls.holdRequests("/public/ping")
                async let first: Ping = client.send(AnyCall.get("/public/ping"))
                async let second: Ping = client.send(AnyCall.get("/public/ping"))
                try await gate.waitUntilHeld(2)
                #expect(app.counters.connectionsAccepted == 2)
                gate.release()
                let responses = try await [first, second]
                #expect(responses.allSatisfy { $0.pong })
                await transport.shutdown()
            }
        }

        @Test("HTTP/2 with a pinned key works, and without a match no request is sent")
        func pins() async throws {
            var configuration = BackendConfiguration.testing(.reissue)
            configuration.tls = .selfSigned
            try await ReferenceBackend.withRunning(configuration) { backend -> Void in
                var tls = TLSSettings.system
                let authority = try TLSCertificate.all(pem: #require(backend.certificateAuthorityPEM))
                tls.authorities = .only(authority)
                let server = try TLSCertificate.all(pem: #require(backend.certificatePEM))[0]
                for (pin, isRight) in [(server, true), (authority[0], false)] {
                    tls.pins = try ["localhost", "127.0.0.1"].map {
                        try PinnedHost($0, pins: [.publicKey(of: pin), .certificate(pin)])
                    }
                    let transport = RecordingTransport(try AsyncHTTPClientTransport(tls: tls))
                    var config = NetworkConfig()
                    config.retry = .never
                    let client = NetworkClient(baseURL: BaseURL(backend.baseURL), config: config, transport: transport)
                    let arrived = backend.controls.arrivalCount("*")
                    // Calls at once share the connection that is refused.
                    let calls = (1...10).map { _ in Task { try await client.data(for: AnyCall.get("/public/ping")) } }
                    for call in calls {
                        switch await call.result {
                        case .success: #expect(isRight)
                        case .failure(NetworkError.tlsFailed): #expect(!isRight)
                        case .failure(let error): Issue.record(error)
                        }
                    }
                    #expect(backend.controls.arrivalCount("*") == arrived + (isRight ? 10 : 0))
                    await transport.shutdown()
                }
            }
        }

        @Test("An untrusted certificate causes tlsFailed, and nothing is sent", arguments: Wire.allCases)
        func untrusted(wire: Wire) async throws {
            var configuration = BackendConfiguration.testing(.reissue)
            configuration.tls = .selfSigned
            try await ReferenceBackend.withRunning(configuration) { backend -> Void in
                let transport = RecordingTransport(try wire.transport())
                var config = NetworkConfig()
                config.retry = .never
                let client = NetworkClient(baseURL: BaseURL(backend.baseURL), config: config, transport: transport)
                let error = await #expect(throws: NetworkError.self) {
                    try await client.data(for: AnyCall.get("/public/ping"))
                }
                guard case .tlsFailed = error else {
                    return #expect(Bool(false), "\(String(describing: error))")
                }
                #expect(backend.controls.arrivalCount("*") == 0)
                await transport.shutdown()
            }
        }

        @Test("An untrusted token endpoint does not end the session", arguments: Wire.allCases)
        func untrustedTokenEndpoint(wire: Wire) async throws {
            var configuration = BackendConfiguration.testing(.reissue)
            configuration.tls = .selfSigned
            try await ReferenceBackend.withRunning(configuration) { backend -> Void in
                let transport = RecordingTransport(try wire.transport())
                let tokens = TokenManager(
                    baseURL: BaseURL(backend.baseURL), store: .inMemory,
                    refresher: .json(path: "/auth/reissue"),
                    transport: transport)
                try await tokens.signIn(with: Tokens(accessToken: "access", refreshToken: "refresh"))
                let error = await #expect(throws: SessionError.self) { try await tokens.refresh() }
                guard case .refreshFailed(let failure) = error else {
                    return #expect(Bool(false), "\(String(describing: error))")
                }
                #expect(failure.kind == .connection && tokens.state.isSignedIn)
                #expect(backend.controls.counters.refreshesCalled == 0)
                await transport.shutdown()
            }
        }

        @Test("TLS to a server without TLS causes tlsFailed or a lost connection", arguments: Wire.allCases)
        func notTLS(wire: Wire) async throws {
            try await ReferenceBackend.withRunning(.testing(.reissue)) { backend in
                let transport = RecordingTransport(try wire.transport())
                var config = NetworkConfig()
                config.retry = .never
                let client = NetworkClient(
                    baseURL: BaseURL("https://127.0.0.1:\(backend.port)"), config: config, transport: transport)
                let error = await #expect(throws: NetworkError.self) {
                    try await client.data(for: AnyCall.get("/public/ping"))
                }
                switch error {
                case .tlsFailed, .connectionLost: break
                default: Issue.record("\(String(describing: error))")
                }
                await transport.shutdown()
            }
        }
    }
}
