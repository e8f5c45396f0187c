#if canImport(CryptoKit) || Encryption
    internal import HTTPTypes
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Makes the request that the browser takes to the server (OpenID Connect Core 1.0, section 3.1.2.1; RFC 7636; RFC
    /// 9126).
    struct AuthorizationRequest {
        let server: OAuthServer
        let metadata: ServerMetadata
        let redirectURI: String

        /// Makes an attempt with a new state, nonce and code verifier, and pushes its parameters if the server accepts
        /// that.
        func begin(scope: [String], _ options: SignInOptions) async throws(OAuthError) -> SignInAttempt {
            // RFC 6749, section 3.3: the parameter is a list that is separated by spaces. An element may be such a
            // list.
            let scope = scope.flatMap { $0.split(separator: " ").map(String.init) }
            try checkSupport()
            let needsIDToken = options.fetchesUserinfo || options.maxAge != nil || !options.acr.isEmpty
            if needsIDToken, !scope.contains("openid") {
                throw OAuthError(
                    .unsupported,
                    "SignInOptions.fetchesUserinfo, maxAge and acr need an ID token. Add openid to the scope.")
            }
            let nonce = scope.contains("openid") ? randomText() : nil
            let (state, verifier) = (randomText(), randomText())
            var parameters: Query = [
                "response_type": "code", "client_id": server.client.id, "redirect_uri": redirectURI,
                "scope": scope.isEmpty ? nil : scope.joined(separator: " "), "state": state.reveal(),
                "nonce": nonce?.reveal(), "code_challenge": codeChallenge(of: verifier),
                "code_challenge_method": "S256",
            ]
            try add(options, to: &parameters)
            let pushed = try await push(parameters)
            let endpoint = metadata.authorizationEndpoint
            let text =
                endpoint + (endpoint.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + (pushed ?? parameters).encoded
            guard let url = URL(string: text) else {
                throw OAuthError(
                    .discovery, "The authorization_endpoint of \(server.issuer) cannot be opened: it is not a URL.")
            }
            return SignInAttempt(
                url: url, issuer: server.issuer, redirectURI: redirectURI, state: state, verifier: verifier,
                nonce: nonce, maxAge: options.maxAge, acr: options.acr, resources: options.resources,
                fetchesUserinfo: options.fetchesUserinfo)
        }

        private func checkSupport() throws(OAuthError) {
            if let methods = metadata.challengeMethods, !methods.contains("S256") {
                throw OAuthError(
                    .unsupported,
                    "\(server.issuer) does not support PKCE with S256, without which a code could be stolen.")
            }
            if metadata.requiresPush, metadata.pushEndpoint == nil {
                throw OAuthError(
                    .unsupported, "\(server.issuer) requires pushed requests, and has no endpoint for them.")
            }
        }

        private func add(_ options: SignInOptions, to parameters: inout Query) throws(OAuthError) {
            parameters.append("prompt", options.prompt)
            parameters.append("login_hint", options.loginHint)
            parameters.append("ui_locales", options.uiLocales.isEmpty ? nil : options.uiLocales.joined(separator: " "))
            parameters.append("max_age", options.maxAge.map { String($0.components.seconds) })
            parameters.append("acr_values", options.acr.isEmpty ? nil : options.acr.joined(separator: " "))
            if metadata.readsClaims, !options.acr.isEmpty {
                parameters.append("claims", EssentialClaims(options.acr).text)
            }
            parameters.append("resource", options.resources)
            let taken = Set(parameters.items.map(\.name)).union([
                "scope", "max_age", "acr_values", "nonce", "claims", "request", "request_uri", "response_mode",
            ])
            for (name, value) in options.parameters.sorted(by: { $0.key < $1.key }) {
                guard !taken.contains(name) else {
                    throw OAuthError(
                        .unsupported,
                        "SignInOptions.parameters cannot have \(name). Martlet sets it, or does not support it.")
                }
                parameters.append(name, value)
            }
        }

        /// Sends the parameters to the server, so that neither the browser nor its history has them.
        /// - Returns: The parameters that are left for the browser; `nil` if the server does not accept pushed
        ///   requests.
        private func push(_ parameters: Query) async throws(OAuthError) -> Query? {
            guard let endpoint = metadata.pushEndpoint else { return nil }
            let response = try await server.link.post(parameters, to: endpoint, as: server.client)
            guard response.status == 201 || response.status == 200 else {
                throw OAuthError(refusal: response, by: endpoint, hiding: [])
            }
            guard let address = response.members?["request_uri"]?.string, !address.isEmpty else {
                throw OAuthError(
                    .unreachable, "\(endpoint) responded with \(response.status) and without a request_uri.")
            }
            return ["client_id": server.client.id, "request_uri": address]
        }
    }

    /// 256 random bits as text.
    func randomText() -> Secret {
        var generator = SystemRandomNumberGenerator()
        return Secret(Base64URL.encode((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    /// The parameter `claims` that makes `acr` essential (OpenID Connect Core 1.0, section 5.5.1.1).
    private struct EssentialClaims: Encodable {
        struct ClaimRequest: Encodable {
            let essential = true
            let values: [String]
        }

        let claims: [String: [String: ClaimRequest]]

        init(_ acr: [String]) {
            claims = ["id_token": ["acr": ClaimRequest(values: acr)]]
        }

        var text: String? {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return (try? encoder.encode(claims)).map { String(decoding: $0, as: UTF8.self) }
        }
    }
#endif
