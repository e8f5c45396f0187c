#if canImport(CryptoKit) || Encryption
    import Foundation
    import HTTPTypes
    import Martlet
    import MartletStorage
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    /// The behavior of a test's server.
    struct Script: Sendable {
        var metadata: RawObject
        /// Replaces the response to the request for metadata.
        var metadataResponse: StubTransport.Response?
        var keys: [RawObject] = [TestKey.es256.jwk]
        var keysResponse: StubTransport.Response?
        /// Holds the requests for metadata and for keys.
        var metadataGate: Gate?
        var keysGate: Gate?
        var signer = TestKey.es256
        /// Changes a valid ID token.
        var edit: @Sendable (inout TokenCase) throws -> Void = { _ in }
        var editResponse: @Sendable (inout RawObject) -> Void = { _ in }
        var tokenResponse: StubTransport.Response?
        /// Changes the parameters of the callback.
        var editCallback: @Sendable (inout [(String, String)]) -> Void = { _ in }
        /// Replaces the whole callback.
        var callback: (@Sendable (URL) async throws -> URL)?
        var userinfo = "{\"sub\":\"ada\",\"email\":\"ada@example.com\"}"
        var userinfoStatus = 200
        var revokeResponse = StubTransport.Response.status(200)
        var pushResponse: StubTransport.Response?
        var scope = ["openid"]
        var options = SignInOptions()
        var redirect = OAuthServer.Redirect.appScheme("com.example.app:/callback")

        init(issuer: String = "https://id.example.com") {
            metadata = [
                "issuer": quoted(issuer), "authorization_endpoint": quoted(issuer + "/authorize"),
                "token_endpoint": quoted(issuer + "/token"), "jwks_uri": quoted(issuer + "/keys"),
                "userinfo_endpoint": quoted(issuer + "/userinfo"), "revocation_endpoint": quoted(issuer + "/revoke"),
                "end_session_endpoint": quoted(issuer + "/logout"),
                "authorization_response_iss_parameter_supported": "true",
                "code_challenge_methods_supported": "[\"S256\"]",
                "id_token_signing_alg_values_supported":
                    "[\"none\",\"HS256\",\"RS256\",\"PS256\",\"ES256\",\"ES384\",\"EdDSA\"]",
            ]
        }
    }

    /// A server, an app with a session at it, and the browser between them.
    final class World: Sendable {
        let time = ManualTimeSource()
        let issuer: String
        let script: Locked<Script>
        let store: AnyTokenStore
        /// Counts the revocations.
        let revocations = Gate()
        /// The parameters of the last authorization request, and all requests so far.
        private let state = Locked(State())

        private struct State {
            var requests: [StubTransport.Request] = []
            var parameters: [String: String] = [:]
            var pushed: [String: String] = [:]
            var codes: [String: [String: String]] = [:]
            var count = 0
            var transport: StubTransport?
            var server: OAuthServer?
        }

        init(_ script: Script = Script(), issuer: String = "https://id.example.com", holding stored: Tokens? = nil) {
            revocations.open()
            self.issuer = issuer
            self.script = Locked(script)
            let now = time.wallClock
            store = stored.map { .inMemory($0, account: SessionAccount(userID: "before"), at: now) } ?? .inMemory
            let transport = StubTransport { [weak self] request in
                guard let self else { throw TransportError.offline }
                return try await self.respond(to: request)
            }
            let server = OAuthServer(
                issuer: issuer, client: OAuthClient(id: "app"), redirect: script.redirect, transport: transport,
                time: time)
            state.withLock { state in
                state.transport = transport
                state.server = server
            }
        }

        var transport: StubTransport { state.withLock { $0.transport } ?? StubTransport() }

        var server: OAuthServer {
            guard let server = state.withLock({ $0.server }) else { preconditionFailure("the world has a server") }
            return server
        }

        /// Makes a manager whose API has a different origin than the server.
        func manager(_ policy: SessionPolicy = SessionPolicy()) -> TokenManager {
            TokenManager(
                baseURL: "https://api.example.com", store: store, oauth: server, policy: policy, transport: transport,
                time: time)
        }

        /// All requests so far, as method, host and path.
        var requests: [String] {
            transport.requests.map { "\($0.method) \($0.request.authority ?? "")\($0.path.prefix { $0 != "?" })" }
        }

        func requests(to path: String) -> [StubTransport.Request] { transport.requests(to: path) }

        func change(_ change: (inout Script) -> Void) { script.withLock { change(&$0) } }

        func signIn(to tokens: TokenManager) async throws(OAuthError) -> OAuthUser {
            let (scope, options) = script.withLock { ($0.scope, $0.options) }
            return try await server.signIn(to: tokens, scope: scope, options: options, with: browse)
        }

        /// The parameters of the last authorization request.
        var parameters: [String: String] { state.withLock { $0.parameters } }

        /// Visits the authorization page like a browser whose user agrees.
        @Sendable func browse(_ url: URL) async throws -> URL {
            let script = script.withLock { $0 }
            if let callback = script.callback {
                note(url)
                return try await callback(url)
            }
            return try answer(url, script)
        }

        /// Notes the parameters of an authorization request.
        @discardableResult
        private func note(_ url: URL) -> [String: String] {
            let asked = fields(of: url.absoluteString)
            return state.withLock { state in
                state.parameters = asked["request_uri"].map { _ in state.pushed } ?? asked
                return state.parameters
            }
        }

        private func answer(_ url: URL, _ script: Script) throws -> URL {
            let parameters = note(url)
            let code = state.withLock { state in
                state.count += 1
                let code = "code-\(state.count)-of-the-server"
                state.codes[code] = parameters
                return code
            }
            var fields = [("code", code), ("state", parameters["state"] ?? ""), ("iss", issuer)]
            script.editCallback(&fields)
            let query = Query(fields.map { Query.Item($0.0, $0.1) }).encoded
            return try #require(URL(string: "\(parameters["redirect_uri"] ?? "")?\(query)"))
        }

        private func fields(of url: String) -> [String: String] {
            let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            return Dictionary(AuthorizationResponse.form(query).map { ($0.name, $0.value) }) { first, _ in first }
        }
    }

    // MARK: - The server

    extension World {
        private func respond(to request: StubTransport.Request) async throws -> StubTransport.Response {
            let script = script.withLock { $0 }
            switch request.path.prefix(while: { $0 != "?" }) {
            case "/.well-known/openid-configuration":
                try await script.metadataGate?.passUnlessCancelled()
                return script.metadataResponse ?? .json(script.metadata.text)
            case "/keys":
                try await script.keysGate?.passUnlessCancelled()
                return script.keysResponse ?? .json(keySet(script.keys))
            case "/par": return script.pushResponse ?? push(request)
            case "/token": return try script.tokenResponse ?? tokens(for: request, script)
            case "/userinfo":
                return .json(script.userinfo, status: script.userinfoStatus)
            case "/revoke":
                await revocations.pass()
                return script.revokeResponse
            default: return .status(404)
            }
        }

        private func push(_ request: StubTransport.Request) -> StubTransport.Response {
            let fields = form(request)
            return state.withLock { state in
                state.pushed = fields
                return .json("{\"request_uri\":\"urn:pushed:1\",\"expires_in\":60}", status: 201)
            }
        }

        private func form(_ request: StubTransport.Request) -> [String: String] {
            Dictionary(AuthorizationResponse.form(request.text).map { ($0.name, $0.value) }) { first, _ in first }
        }

        private func tokens(for request: StubTransport.Request, _ script: Script) throws -> StubTransport.Response {
            let form = form(request)
            guard form["grant_type"] == "refresh_token" else { return try firstTokens(form, script) }
            return try response(number: 50, nonce: nil, script)
        }

        private func firstTokens(_ form: [String: String], _ script: Script) throws -> StubTransport.Response {
            let asked = state.withLock { $0.codes.removeValue(forKey: form["code"] ?? "") }
            guard let asked, asked["redirect_uri"] == form["redirect_uri"], form["client_id"] == "app",
                asked["code_challenge"] == codeChallenge(of: Secret(form["code_verifier"] ?? ""))
            else { return .json("{\"error\":\"invalid_grant\",\"error_description\":\"the code\"}", status: 400) }
            let number = form["code"]?.split(separator: "-").dropFirst().first.flatMap { Int($0) } ?? 0
            return try response(number: number, nonce: asked["nonce"], script)
        }

        private func response(number: Int, nonce: String?, _ script: Script) throws -> StubTransport.Response {
            var test = TokenCase(signedBy: script.signer)
            test.claims["iss"] = quoted(issuer)
            test.claims["nonce"] = nonce.map(quoted)
            let now = Int(time.wallClock.timeIntervalSince1970)
            test.claims["iat"] = "\(now)"
            test.claims["exp"] = "\(now + 300)"
            try script.edit(&test)
            var response: RawObject = [
                "access_token": quoted("access-\(number)-of-the-server"), "token_type": quoted("Bearer"),
                "refresh_token": quoted("refresh-\(number)-of-the-server"), "expires_in": "3600",
                "id_token": quoted(try test.token()),
            ]
            script.editResponse(&response)
            return .json(response.text)
        }
    }

    /// A sign-in that must fail: it leaves no trace, the earlier session continues, and no text shows a secret.
    struct Refusal {
        let world: World

        init(_ change: (inout Script) throws -> Void) rethrows {
            var script = Script()
            try change(&script)
            world = World(script, holding: .fresh(7))
        }

        /// Signs in, and checks the conditions that hold after every failure.
        /// - Returns: The error.
        func run(_ sourceLocation: SourceLocation = #_sourceLocation) async throws -> OAuthError {
            let tokens = world.manager()
            let before = await tokens.restore()
            let stored = await world.store.read()
            var found: OAuthError?
            do throws(OAuthError) {
                _ = try await world.signIn(to: tokens)
            } catch {
                found = error
            }
            let error = try #require(found, "the sign-in succeeded", sourceLocation: sourceLocation)
            #expect(tokens.state == before, sourceLocation: sourceLocation)
            #expect(tokens.currentTokens?.accessToken == "access-7", sourceLocation: sourceLocation)
            #expect(await world.store.read() == stored, sourceLocation: sourceLocation)
            expectSecrecy(error, sourceLocation)
            // The API's token never goes to the server.
            for request in world.transport.requests {
                #expect(!"\(request.request)\(request.text)".contains("access-7"), sourceLocation: sourceLocation)
            }
            return error
        }

        private func expectSecrecy(_ error: OAuthError, _ sourceLocation: SourceLocation) {
            var dumped = ""
            dump(error, to: &dumped)
            let text = "\(error) \(String(reflecting: error)) \(error.errorDescription ?? "") \(dumped)"
            var secrets = ["-of-the-server", "access-7", "refresh-7"]
            secrets += ["state", "nonce", "code_challenge"].compactMap { world.parameters[$0] }
            secrets += world.requests(to: "/token").flatMap { request in
                AuthorizationResponse.form(request.text).filter { ["code", "code_verifier"].contains($0.name) }.map(
                    \.value)
            }
            for secret in secrets where !secret.isEmpty {
                #expect(!text.contains(secret), sourceLocation: sourceLocation)
            }
            #expect(!error.description.isEmpty && error.description.count < 600, sourceLocation: sourceLocation)
        }
    }

    extension World {
        /// Works like ``browse(_:)``, for a script's callback that suspends first.
        func browseAgain(_ url: URL) async throws -> URL {
            let script = script.withLock { $0 }
            return try answer(url, script)
        }

        /// Waits until this many refresh tokens have been revoked, and returns them.
        func revokedTokens(_ count: Int) async -> [String] {
            await revocations.waitForArrivals(count)
            return requests(to: "/revoke").flatMap { request in
                AuthorizationResponse.form(request.text).filter { $0.name == "token" }.map(\.value)
            }
        }
    }
#endif
