#if canImport(CryptoKit) || Encryption
    internal import HTTPTypes
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Exchanges the code of a callback for tokens, and verifies who has signed in.
    struct CodeExchange: Sendable {
        let server: OAuthServer
        let metadata: ServerMetadata
        let attempt: SignInAttempt
        let code: Secret
        /// The manager to sign in to, whose session must stay if the server issues the same tokens again.
        let manager: TokenManager

        /// The names in a token response (RFC 6749, section 5.1).
        static let fields = TokenFields(
            containers: [""], accessToken: ["access_token"], refreshToken: ["refresh_token"], expiresIn: ["expires_in"],
            expiresAt: [], accessTokenHeader: nil, additional: ["id_token"])

        /// The names of what has to be revoked if a response cannot be used. The refresh token is enough.
        private static let issued = TokenFields(
            containers: [""], accessToken: ["refresh_token", "access_token"], refreshToken: ["refresh_token"],
            accessTokenHeader: nil)

        /// The tokens and their user.
        /// - Throws: An error. Tokens that the server has already issued are revoked.
        func run() async throws(OAuthError) -> (tokens: Tokens, user: OAuthUser) {
            let (response, tokens) = try await exchange()
            do throws(OAuthError) {
                return (tokens, try await user(of: tokens, in: response))
            } catch {
                await server.revoke(tokens, unlessUsedBy: manager)
                throw error
            }
        }

        private func exchange() async throws(OAuthError) -> (members: [String: StrictJSON], tokens: Tokens) {
            let endpoint = metadata.tokenEndpoint
            var form: Query = [
                "grant_type": "authorization_code", "code": code.reveal(), "redirect_uri": attempt.redirectURI,
                "code_verifier": attempt.verifier.reveal(),
            ]
            form.append("resource", attempt.resources)
            let response = try await server.link.post(form, to: endpoint, as: server.client)
            guard response.status == 200 else {
                throw OAuthError(refusal: response, by: endpoint, hiding: attempt.secrets + [code])
            }
            guard let members = response.members, members["access_token"]?.string?.isEmpty == false,
                var tokens = try? Self.fields.tokens(from: response)
            else {
                if let tokens = try? Self.issued.tokens(from: response) {
                    await server.revoke(tokens, unlessUsedBy: manager)
                }
                throw OAuthError(
                    .unreachable, "\(endpoint) responded without an access token. Ask the server's operator.")
            }
            // Keep only an ID token that will be verified.
            if attempt.nonce == nil { tokens.additionalFields = [:] }
            return (members, tokens)
        }

        private func user(of tokens: Tokens, in response: [String: StrictJSON]) async throws(OAuthError) -> OAuthUser {
            guard let type = response["token_type"]?.string, type.lowercased() == "bearer" else {
                throw OAuthError(
                    .unsupported,
                    "\(metadata.tokenEndpoint) issued a token that is no bearer token. Change the client there.")
            }
            guard let nonce = attempt.nonce else {
                return OAuthUser(subject: nil, idTokenClaims: nil, userinfoClaims: nil)
            }
            guard let text = response["id_token"]?.string else {
                throw OAuthError(failed: .presence, at: attempt.issuer)
            }
            var rules = server.rules(by: metadata)
            rules.nonce = nonce.reveal()
            rules.accessToken = tokens.accessToken
            rules.maxAge = attempt.maxAge
            rules.acr = attempt.acr
            let token = try await server.verify(text, by: rules, metadata)
            let claims =
                attempt.fetchesUserinfo ? try await userinfo(tokens.accessToken, of: token.identity.subject) : nil
            return OAuthUser(subject: token.identity.subject, idTokenClaims: token.payload, userinfoClaims: claims)
        }

        /// The claims of the userinfo endpoint (OpenID Connect Core 1.0, section 5.3), which must be those of the same
        /// user.
        private func userinfo(_ accessToken: Secret, of subject: String) async throws(OAuthError) -> Data {
            guard let endpoint = metadata.userinfoEndpoint else {
                throw OAuthError(.unsupported, "\(attempt.issuer) has no userinfo endpoint. Remove fetchesUserinfo.")
            }
            var headers = HTTPFields()
            headers.setSensitive("Bearer \(accessToken.reveal())", for: .authorization)
            let response = try await server.link.get(endpoint, headers, as: .userinfo)
            guard response.status == 200, let members = response.members else {
                throw OAuthError(.userinfo, "\(endpoint) responded with \(response.status), or not with a JSON object.")
            }
            guard let found = members["sub"]?.string, found.isIdentical(to: subject) else {
                throw OAuthError(.userinfo, "\(endpoint) has another sub than the ID token. Ask the server's operator.")
            }
            return response.body
        }
    }
#endif
