import Martlet
import MartletGuests
import MartletTesting
import Testing

@Suite("The response to a guest", .timeLimit(.minutes(10))) struct GuestResponseTests {
    private static func body(_ code: String, _ number: Int) -> String {
        """
        {"success":true,"code":"\(code)","message":"Hello","errors":[],"meta":{"requestId":"r\(number)","durationMs":3},
         "data":{"user":{"id":7,"name":"Ada"},"accessToken":"a\(number)","refreshToken":"f\(number)"}}
        """
    }

    /// - Parameter gate: The server's responses wait at it.
    private func app(_ gate: Gate? = nil) -> (client: NetworkClient, transport: StubTransport) {
        let transport = StubTransport { request in
            await gate?.pass()
            return .json(Self.body(request.path == "/auth/upgrade" ? "UPGRADED" : "CREATED", request.number))
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        var config = NetworkConfig()
        config.envelope = ResponseEnvelope()
        return (NetworkClient(tokens: tokens, config: config), transport)
    }

    @Test("a registration has the code, the message and the meta of its envelope") func registration() async throws {
        let (client, _) = app()
        let response = try await GuestAuthService(client).registrationResponse(name: "Ada")
        #expect(response.value == Guest(id: "7", name: "Ada"))
        #expect(response.code == "CREATED" && response.message == "Hello" && response.status == 200)
        #expect(response.meta?.requestID == "r1" && response.meta?.duration == .milliseconds(3))
        #expect(client.tokens?.state.isSignedIn == true)
    }

    @Test("callers that share a registration get the same response, with or without its details") func shared()
        async throws
    {
        let gate = Gate()
        let (client, transport) = app(gate)
        let guests = GuestAuthService(client)
        let details = Task { try await guests.registrationResponse(name: "Ada") }
        await gate.waitForArrivals()
        let guest = Task { try await guests.register(name: "Ada") }
        // Leaves time for a second registration to start.
        for _ in 0..<1000 { await Task.yield() }
        gate.open()
        #expect(try await details.value.meta?.requestID == "r1")
        #expect(try await guest.value.id == "7")
        #expect(transport.requests.count == 1)
    }

    @Test("an upgrade while the first sign-in of the app is being saved finds no user") func duringSignIn() async throws
    {
        let (store, gate) = (FailingTokenStore(), Gate())
        store.hold(.write, at: gate)
        let transport = StubTransport { _ in .status(404) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        let signIn = Task { try await tokens.signIn(with: .fresh()) }
        await gate.waitForArrivals()
        let failure = await #expect(throws: NetworkError.self) {
            let _: NoContent = try await GuestAuthService(NetworkClient(tokens: tokens)).upgrade { _ in
                Call<NoContent>.post("/auth/upgrade")
            }
        }
        guard case .signInRequired = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        gate.open()
        _ = try await signIn.value
        #expect(transport.requests.isEmpty)
    }

    @Test("an upgrade whose session cannot be read, or whose task is cancelled, says so") func unreadableGuest()
        async throws
    {
        for isCancelled in [false, true] {
            let store = FailingTokenStore()
            store.fail(.read, times: nil, with: StorageError(.locked, "the keyring is locked"))
            let transport = StubTransport { _ in .status(404) }
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
                transport: transport, time: ManualTimeSource())
            let guests = GuestAuthService(NetworkClient(tokens: tokens))
            let upgrade = Task { () -> NetworkError? in
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                do throws(NetworkError) {
                    let _: NoContent = try await guests.upgrade { _ in Call<NoContent>.post("/auth/upgrade") }
                    return nil
                } catch {
                    return error
                }
            }
            switch await upgrade.value {
            case .storageUnavailable(_, let failure): #expect(!isCancelled && failure.kind == .locked)
            case .cancelled: #expect(isCancelled)
            case let other: Issue.record("\(String(describing: other))")
            }
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("an upgrade has the code, the message and the meta too") func upgrade() async throws {
        struct User: Decodable, Sendable {
            struct Inner: Decodable, Sendable { var id: Int }
            var user: Inner
        }
        let (client, transport) = app()
        let guests = GuestAuthService(client)
        try await guests.register(name: "Ada")
        let response: NetworkResponse<User> = try await guests.upgradeResponse { id in
            Call<NoContent>.post("/auth/upgrade", .json(["guest": id ?? ""]))
        }
        #expect(response.value.user.id == 7 && response.code == "UPGRADED" && response.meta?.requestID == "r2")
        #expect(transport.requests(to: "/auth/upgrade").map(\.bearer) == ["a1"])
        #expect(client.tokens?.currentTokens?.accessToken == "a2")
    }
}
