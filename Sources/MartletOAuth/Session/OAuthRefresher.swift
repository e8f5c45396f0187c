#if canImport(CryptoKit) || Encryption
    internal import Martlet
    internal import MartletStorage

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Refreshes tokens at the token endpoint that the server's metadata names.
    struct OAuthRefresher: TokenRefresher {
        let server: OAuthServer
        let sessionEnd: SessionEndRule

        func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens {
            guard tokens.refreshToken != nil else { throw RefreshRejectedError() }
            let limit = min(Self.discoveryTimeout, (client.attemptTimeout ?? .seconds(30)) / 3)
            let metadata = try await metadata(within: limit)
            let refresher = HTTPTokenRefresher(
                path: metadata.tokenEndpoint, placement: .oauth2(server.client), fields: CodeExchange.fields,
                sessionEnd: sessionEnd)
            var new = try await refresher.refresh(tokens, over: client)
            // A client must not use a token of a type that it does not know (RFC 6749, section 7.1).
            if let type = new.tokenType, type.lowercased() != "bearer" {
                try await refuse(
                    new, after: tokens, code: "unsupported_token_type",
                    because:
                        "\(metadata.tokenEndpoint) issued a token that is no bearer token. Change the client there.")
            }
            try await check(&new, after: tokens, metadata, within: limit)
            return new
        }

        /// Refuses the tokens of a response. If the server has replaced the refresh token, the former one is spent, and
        /// the session ends: a server that detects the reuse would end it, too.
        private func refuse(
            _ new: Tokens, after old: Tokens, code: String, because reason: String
        ) async throws -> Never {
            guard let next = new.refreshToken, next != old.refreshToken else {
                throw RefreshError(.unreadableResponse, description: reason)
            }
            await server.revoke(new, unlessUsedBy: nil)
            throw RefreshRejectedError(code: code)
        }

        func tokens(inSignInResponse response: ServerResponse) throws -> Tokens {
            try CodeExchange.fields.tokens(from: response)
        }

        /// The longest time for the discovery, and for the keys. It is shorter than that of the whole refresh, because a
        /// refresh that times out may have spent the token.
        static let discoveryTimeout = Duration.seconds(10)

        /// - Throws: A transient error. No refresh token has been sent.
        private func metadata(within limit: Duration) async throws -> ServerMetadata {
            let result = await server.link.run(within: limit) { [server] in
                try await server.discovery.metadata()
            }
            switch result {
            case .success(let metadata): return metadata
            case .failure(let error as OAuthError): throw Self.failure(error.refreshKind, error.description)
            case .failure(is TimeLimitError):
                throw Self.failure(.timedOut, "the metadata of \(server.issuer) did not arrive in time")
            case .failure: throw Self.failure(.refresher, "the discovery of \(server.issuer) was cancelled")
            }
        }

        private static func failure(_ kind: RefreshError.Kind, _ description: String) -> RefreshError {
            var failure = RefreshError(kind, description: description)
            failure.mayHaveSpentToken = false
            return failure
        }

        /// Checks the ID token of the response to a refresh (OpenID Connect Core 1.0, section 12.2).
        ///
        /// The refresh token is spent by now. If the ID token cannot be verified at the moment, the earlier, verified
        /// one is kept instead. If it belongs to another user or its signature is wrong, the new tokens are not used.
        private func check(
            _ new: inout Tokens, after old: Tokens, _ metadata: ServerMetadata, within limit: Duration
        ) async throws {
            guard let text = new.idToken else { return }
            do {
                let former = old.idToken.flatMap { SignedToken.claims(of: $0.reveal()) }
                if let claims = SignedToken.claims(of: text.reveal()) { try checkIdentity(in: claims, former) }
                var rules = server.rules(by: metadata)
                rules.accessToken = new.accessToken
                let verification = await server.link.run(within: limit) { [server, rules] in
                    _ = try await server.verify(text.reveal(), by: rules, metadata)
                }
                try verification.get()
            } catch let error as OAuthError {
                switch error.kind {
                // The last three: the server now signs differently from when this process read its metadata.
                case .discovery, .cancelled, .idToken(.key), .idToken(.expiry), .idToken(.issueTime),
                    .idToken(.notBefore), .idToken(.algorithm), .idToken(.severalKeys), .idToken(.weakKey):
                    new.additionalFields["id_token"] = nil
                default: try await refuse(new, after: old, code: "invalid_id_token", because: error.description)
                }
            } catch {
                // The keys did not arrive in time.
                new.additionalFields["id_token"] = nil
            }
        }

        /// Compares the claims that must not change.
        private func checkIdentity(
            in claims: [String: StrictJSON], _ former: [String: StrictJSON]?
        ) throws(OAuthError) {
            guard claims["iss"]?.string?.isIdentical(to: server.issuer) == true else {
                throw OAuthError(failed: .issuer, at: server.issuer)
            }
            guard let former else { return }
            guard let subject = claims["sub"]?.string,
                former["sub"]?.string?.isIdentical(to: subject) == true
            else { throw OAuthError(failed: .subject, at: server.issuer) }
            func audience(in claims: [String: StrictJSON]) -> [String] {
                claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.strings ?? []
            }
            let audiences = audience(in: claims)
            let isSame = audience(in: former).allSatisfy { name in audiences.contains { $0.isIdentical(to: name) } }
            guard isSame else { throw OAuthError(failed: .audience, at: server.issuer) }
            // An ID token of a refresh needs no nonce. If both have one, it is that of the sign-in.
            if let nonce = claims["nonce"], nonce != .null, let first = former["nonce"]?.string,
                nonce.string?.isIdentical(to: first) != true
            {
                throw OAuthError(failed: .nonce, at: server.issuer)
            }
        }
    }

    extension OAuthError {
        fileprivate var refreshKind: RefreshError.Kind {
            switch userText {
            case .offline: .offline
            case .cannotConnect: .connection
            case .timedOut: .timedOut
            default: .refresher
            }
        }
    }
#endif
