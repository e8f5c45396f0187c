#if canImport(CryptoKit) || Encryption
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The parameters that the server has sent back with the browser (RFC 6749, section 4.1.2).
    struct AuthorizationResponse {
        private let parameters: [(name: String, value: String)]
        private let fragment: [(name: String, value: String)]

        init(_ callback: URL) {
            let parts = callback.absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let target =
                parts.first.map { $0.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false) } ?? []
            parameters = target.count == 2 ? Self.form(target[1]) : []
            fragment = parts.count == 2 ? Self.form(parts[1]) : []
        }

        init(query: String) {
            parameters = Self.form(query)
            fragment = []
        }

        /// The fields of a form or a query.
        static func form(_ text: some StringProtocol) -> [(name: String, value: String)] {
            text.split(separator: "&").map { item in
                let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                func decoded(_ text: some StringProtocol) -> String {
                    PercentEncoding.decode(String(text).replacing("+", with: " "))
                }
                return (decoded(pair.first ?? ""), pair.count == 2 ? decoded(pair[1]) : "")
            }
        }

        private func values(_ name: String) -> [String] {
            parameters.filter { $0.name == name }.map(\.value)
        }

        /// Whether the callback has exactly one `state`, and it is this one.
        func hasState(_ state: Secret) -> Bool {
            let states = values("state")
            return states.count == 1 && states[0].isIdentical(to: state.reveal())
        }

        /// The code of an attempt's callback.
        /// - Throws: An error if a check fails, even if the callback has a code. That code must not be sent.
        func code(for attempt: SignInAttempt, _ metadata: ServerMetadata) throws(OAuthError) -> Secret {
            guard hasState(attempt.state) else {
                throw OAuthError(
                    .stateMismatch, "The callback of \(attempt.issuer) belongs to another sign-in. Begin a new one.")
            }
            let issuers = values("iss")
            guard issuers.isEmpty ? !metadata.promisesIssuer : issuers == [attempt.issuer],
                issuers.allSatisfy({ $0.isIdentical(to: attempt.issuer) })
            else {
                throw OAuthError(
                    .wrongIssuer, "The callback does not come from \(attempt.issuer): its iss is wrong or missing.")
            }
            if let error = values("error").first {
                throw OAuthError(
                    code: error, values("error_description").first, by: attempt.issuer, hiding: attempt.secrets)
            }
            let codes = values("code")
            // Tokens in a URL come from a response type that was not asked for; `response` would be a signed response.
            let foreign = ["access_token", "id_token", "token", "refresh_token", "response"]
            let isForeign = (parameters + fragment).contains { foreign.contains($0.name) }
            guard codes.count == 1, !codes[0].isEmpty, !isForeign, !fragment.contains(where: { $0.name == "code" })
            else {
                throw OAuthError(
                    .invalidCallback,
                    "The callback of \(attempt.issuer) must contain exactly one code and no token. Begin a new sign-in."
                )
            }
            return Secret(codes[0])
        }
    }
#endif
