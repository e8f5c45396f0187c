#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    /// A sign-in that must fail, and its error.
    struct BadSignIn: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: OAuthError.Kind
        let change: @Sendable (inout Script) -> Void

        init(_ description: String, _ kind: OAuthError.Kind, _ change: @escaping @Sendable (inout Script) -> Void) {
            testDescription = description
            self.kind = kind
            self.change = change
        }

        static func metadata(_ name: String, _ json: String?) -> BadSignIn {
            BadSignIn("the metadata's \(name) is \(json ?? "missing")", .discovery) { $0.metadata[name] = json }
        }

        static func metadata(_ description: String, _ response: StubTransport.Response) -> BadSignIn {
            BadSignIn("the metadata is \(description)", .discovery) { $0.metadataResponse = response }
        }

        static func callback(
            _ description: String, _ kind: OAuthError.Kind,
            _ edit: @escaping @Sendable (inout [(String, String)]) -> Void
        ) -> BadSignIn {
            BadSignIn("the callback \(description)", kind) { $0.editCallback = edit }
        }

        static func response(
            _ description: String, _ kind: OAuthError.Kind, _ edit: @escaping @Sendable (inout RawObject) -> Void
        ) -> BadSignIn {
            BadSignIn("the token response \(description)", kind) { $0.editResponse = edit }
        }

        static let discovery = [
            metadata("issuer", quoted("https://id.example.com/")),
            metadata("issuer", quoted("https://evil.example.com")),
            metadata("issuer", nil), metadata("issuer", "[\"https://id.example.com\"]"),
            metadata("token_endpoint", quoted("http://id.example.com/token")), metadata("token_endpoint", nil),
            metadata("authorization_endpoint", quoted("http://id.example.com/authorize")),
            metadata("authorization_endpoint", nil), metadata("authorization_endpoint", quoted("javascript:alert(1)")),
            metadata("jwks_uri", quoted("http://id.example.com/keys")), metadata("jwks_uri", "7"),
            metadata("userinfo_endpoint", quoted("http://127.0.0.1/userinfo")),
            metadata("registration_endpoint", quoted("http://id.example.com/register")),
            metadata("revocation_endpoint", quoted("https://id.example.com/revoke#x")),
            metadata("HTML", StubTransport.Response(200, body: Data("<!DOCTYPE html><title>Welcome</title>".utf8))),
            metadata("an array", .json("[]")), metadata("empty", .json("")), metadata("missing", .status(404)),
            metadata("not available", .status(503)),
            metadata("elsewhere", .status(302, headers: [.location: "/other"])),
            metadata("cut off", .failure(.connectionLost("reset"))), metadata("offline", .failure(.offline)),
            metadata(
                "larger than 1 MB",
                StubTransport.Response(200, body: Data(repeating: UInt8(ascii: " "), count: 1 << 20 + 1))),
            BadSignIn("the metadata has a member twice", .discovery) { script in
                script.metadata.add("token_endpoint", quoted("https://evil.example.com/token"))
            },
        ]

        static let callbacks = [
            callback("has another state", .stateMismatch) { $0[1].1 = "other" },
            callback("has an empty state", .stateMismatch) { $0[1].1 = "" },
            callback("has no state", .stateMismatch) { $0.remove(at: 1) },
            callback("repeats the state", .stateMismatch) { $0.append($0[1]) },
            callback("has a second state", .stateMismatch) { $0.append(("state", "other")) },
            callback("has another state beside an error", .stateMismatch) {
                $0 = [("error", "access_denied"), ("state", "x")]
            },
            callback("has another iss", .wrongIssuer) { $0[2].1 = "https://evil.example.com" },
            callback("has an iss with a slash", .wrongIssuer) { $0[2].1 += "/" },
            callback("repeats the iss", .wrongIssuer) { $0.append($0[2]) },
            callback("has no iss although it is promised", .wrongIssuer) { $0.remove(at: 2) },
            callback("has an error and another iss", .wrongIssuer) { fields in
                fields[0] = ("error", "access_denied")
                fields[2].1 = "https://evil.example.com"
            },
            callback("is a denial", .denied) { $0[0] = ("error", "access_denied") },
            callback("is another error", .refused(code: "invalid_scope")) { $0[0] = ("error", "invalid_scope") },
            callback("has no code", .invalidCallback) { $0.remove(at: 0) },
            callback("has an empty code", .invalidCallback) { $0[0].1 = "" },
            callback("has two codes", .invalidCallback) { $0.append(("code", "other-of-the-server")) },
            callback("has an access token", .invalidCallback) { $0.append(("access_token", "other-of-the-server")) },
            callback("has an ID token", .invalidCallback) { $0.append(("id_token", "other-of-the-server")) },
            callback("is a signed response", .invalidCallback) { $0.append(("response", "other-of-the-server")) },
        ]

        static let support = [
            BadSignIn("the server requires pushed requests without an endpoint", .unsupported) {
                $0.metadata["require_pushed_authorization_requests"] = "true"
            },
            BadSignIn("the server supports only plain challenges", .unsupported) {
                $0.metadata["code_challenge_methods_supported"] = "[\"plain\"]"
            },
            BadSignIn("the server supports no challenges", .unsupported) {
                $0.metadata["code_challenge_methods_supported"] = "[]"
            },
            BadSignIn("a parameter replaces the state", .unsupported) { $0.options.parameters = ["state": "mine"] },
            BadSignIn("a parameter is a signed request", .unsupported) { $0.options.parameters = ["request": "mine"] },
            BadSignIn("a parameter is the scope", .unsupported) { script in
                script.scope = []
                script.options.parameters = ["scope": "openid email"]
            },
            BadSignIn("a parameter limits the age of the login", .unsupported) {
                $0.options.parameters = ["max_age": "60"]
            },
            BadSignIn("a parameter asks for a class of the login", .unsupported) {
                $0.options.parameters = ["acr_values": "gold"]
            },
            BadSignIn("the redirect is plain http", .unsupported) {
                $0.redirect = .claimed("http://app.example.com/callback")
            },
            BadSignIn("the redirect has a fragment", .unsupported) { $0.redirect = .appScheme("com.example.app:/#x") },
            BadSignIn("the redirect is a script", .unsupported) { $0.redirect = .appScheme("javascript:alert(1)") },
            BadSignIn("the redirect has no port", .unsupported) { $0.redirect = .loopback() },
            BadSignIn("the loopback path has a query", .unsupported) {
                $0.redirect = .loopback(port: 8400, path: "/callback?tenant=7")
            },
            BadSignIn("the loopback path has a fragment", .unsupported) {
                $0.redirect = .loopback(port: 8400, path: "/callback#x")
            },
            BadSignIn("the loopback path has characters that browsers encode", .unsupported) {
                $0.redirect = .loopback(port: 8400, path: "/로그인")
            },
            BadSignIn("the loopback path has a dot segment", .unsupported) {
                $0.redirect = .loopback(port: 8400, path: "/a/../callback")
            },
            BadSignIn("userinfo is asked for without openid", .unsupported) { script in
                script.options.fetchesUserinfo = true
                script.scope = ["profile"]
            },
            BadSignIn("a recent sign-in is asked for without openid", .unsupported) { script in
                script.options.maxAge = .seconds(60)
                script.scope = ["profile"]
            },
            BadSignIn("a second factor is asked for without openid", .unsupported) { script in
                script.options.acr = ["mfa"]
                script.scope = ["profile"]
            },
            BadSignIn("a pushed request is refused", .refused(code: "invalid_request")) { script in
                script.metadata["pushed_authorization_request_endpoint"] = quoted("https://id.example.com/par")
                script.pushResponse = .json("{\"error\":\"invalid_request\"}", status: 400)
            },
            BadSignIn("the response to a pushed request has no address", .unreachable) { script in
                script.metadata["pushed_authorization_request_endpoint"] = quoted("https://id.example.com/par")
                script.pushResponse = .json("{}", status: 201)
            },
            BadSignIn("the user closes the window", .cancelled) { $0.callback = { _ in throw CancellationError() } },
            BadSignIn("the browser cannot be opened", .noBrowser) { $0.callback = { _ in throw POSIXError(.ENOENT) } },
            BadSignIn("the browser's error has the code", .noBrowser) {
                $0.callback = { url in throw VisitError(url: "com.example.app:/callback?code=1-of-the-server&x=\(url)")
                }
            },
        ]

        static let responses = [
            response("has no access token", .unreachable) { $0["access_token"] = nil },
            response("has an access token twice", .unreachable) { $0.add("access_token", quoted("x-of-the-server")) },
            response("has a number as an access token", .unreachable) { $0["access_token"] = "7" },
            response("has no type", .unsupported) { $0["token_type"] = nil },
            response("has a bound token", .unsupported) { $0["token_type"] = quoted("DPoP") },
            response("has no ID token", .idToken(.presence)) { $0["id_token"] = nil },
            response("has an ID token that is no text", .idToken(.presence)) { $0["id_token"] = "{}" },
            BadSignIn("the token endpoint refuses the code", .refused(code: "invalid_grant")) {
                $0.tokenResponse = .json("{\"error\":\"invalid_grant\"}", status: 400)
            },
            BadSignIn("the token endpoint fails", .unreachable) { $0.tokenResponse = .status(500) },
            BadSignIn("the token endpoint redirects", .unreachable) {
                $0.tokenResponse = .status(307, headers: [.location: "https://evil.example.com/token"])
            },
            BadSignIn("the token endpoint sends HTML", .unreachable) {
                $0.tokenResponse = StubTransport.Response(200, body: Data("<html>".utf8))
            },
            BadSignIn("the token endpoint is not reached", .unreachable) {
                $0.tokenResponse = .failure(.cannotConnect("refused"))
            },
            BadSignIn("the keys are not available", .discovery) { $0.keysResponse = .status(500) },
            BadSignIn("the keys are no set", .discovery) { $0.keysResponse = .json("{\"keys\":7}") },
            BadSignIn("the server publishes no keys", .idToken(.key)) { $0.metadata["jwks_uri"] = nil },
            BadSignIn("userinfo describes another user", .userinfo) { script in
                script.options.fetchesUserinfo = true
                script.userinfo = "{\"sub\":\"eve\"}"
            },
            BadSignIn("userinfo has no sub", .userinfo) { script in
                script.options.fetchesUserinfo = true
                script.userinfo = "{\"email\":\"ada@example.com\"}"
            },
            BadSignIn("userinfo is refused", .userinfo) { script in
                script.options.fetchesUserinfo = true
                script.userinfoStatus = 401
            },
            BadSignIn("the server has no userinfo endpoint", .unsupported) { script in
                script.options.fetchesUserinfo = true
                script.metadata["userinfo_endpoint"] = nil
            },
        ]

        static let beforeTheCode = discovery + callbacks + support
    }

    private struct VisitError: Error {
        let url: String
    }

    @Suite("bad sign-ins", .timeLimit(.minutes(10))) struct BadSignInTests {
        @Test(
            "before the code is sent, a fault ends the sign-in and the code is not sent",
            arguments: BadSignIn.beforeTheCode)
        func beforeTheCode(_ bad: BadSignIn) async throws {
            let refusal = Refusal(bad.change)
            let error = try await refusal.run()
            #expect(error.kind == bad.kind)
            #expect(refusal.world.requests(to: "/token").isEmpty)
            #expect(refusal.world.requests(to: "/revoke").isEmpty)
        }

        @Test("after the code was sent, a fault ends the sign-in", arguments: BadSignIn.responses)
        func afterTheCode(_ bad: BadSignIn) async throws {
            let refusal = Refusal(bad.change)
            let error = try await refusal.run()
            #expect(error.kind == bad.kind)
            #expect(refusal.world.requests(to: "/token").count == 1)
            var script = Script()
            bad.change(&script)
            // Issued tokens are revoked, even if the response cannot be used.
            let revoked = refusal.world.requests(to: "/revoke")
            #expect(revoked.count == (script.tokenResponse == nil ? 1 : 0))
            #expect(revoked.allSatisfy { $0.text.contains("token=refresh-1-of-the-server") })
        }

        @Test("an ID token that fails a check starts no session, and its tokens are revoked", arguments: BadToken.all)
        func badIDToken(_ bad: BadToken) async throws {
            let refusal = Refusal { script in
                // The keys and rules of the case become those of the server and the attempt.
                script.edit = bad.change
                var probe = TokenCase()
                try? bad.change(&probe)
                script.keys = probe.keys
                script.options.maxAge = probe.rules.maxAge
                script.options.acr = probe.rules.acr
            }
            let error = try await refusal.run()
            #expect(error.kind == .idToken(bad.check))
            let revoked = refusal.world.requests(to: "/revoke")
            #expect(revoked.count == 1)
            #expect(revoked.first?.text.contains("token=refresh-1-of-the-server") == true)
            #expect(refusal.world.requests.last == "POST id.example.com/revoke")
        }

        @Test("an explanation of the server is cut, and shows neither control characters nor secrets")
        func explanation() async throws {
            let refusal = Refusal { script in
                script.editCallback = { fields in
                    let state = fields[1].1
                    fields[0] = ("error", "server_error")
                    let text = "line\r\nbreak \u{1B}[31m\u{202E}\(state) " + String(repeating: "long ", count: 100)
                    fields.append(("error_description", text))
                }
            }
            let error = try await refusal.run()
            #expect(error.kind == .refused(code: "server_error"))
            #expect(error.description.contains("linebreak"))
            let prefix = "https://id.example.com has refused the sign-in with server_error: "
            #expect(error.description.hasPrefix(prefix))
            #expect(error.description.count == prefix.count + 200)
            #expect(error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        }

        @Test("the user reads a sentence in English or Korean") func userTexts() async throws {
            let offline = Refusal { $0.metadataResponse = .failure(.offline) }
            let error = try await offline.run()
            UserText.Language.$override.withValue(.english) { #expect(error.errorDescription == UserText.offline.text) }
            UserText.Language.$override.withValue(.korean) { #expect(error.errorDescription == UserText.offline.text) }
        }
    }
#endif
