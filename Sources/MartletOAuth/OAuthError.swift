#if canImport(CryptoKit) || Encryption
    public import Martlet

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    /// The error of a sign-in with a browser.
    ///
    /// A failed sign-in stores nothing, and an earlier session continues. If the server has already issued tokens, they
    /// are revoked.
    ///
    /// ```swift
    /// do {
    ///     try await id.signIn(to: tokens, scope: ["openid"], with: browser)
    /// } catch where error.kind == .cancelled {
    ///     // The user has closed the window.
    /// } catch {
    ///     banner = error.localizedDescription
    /// }
    /// ```
    public struct OAuthError: Error, Sendable, Hashable {
        /// The step of a sign-in that failed.
        @nonexhaustive public enum Kind: Sendable, Hashable {
            /// The server's metadata or keys could not be read, or are not acceptable: another `issuer`, an endpoint
            /// without TLS, no JSON, more than 1 MB.
            case discovery
            /// The callback belongs to another sign-in: its `state` is wrong, missing or repeated.
            case stateMismatch
            /// Another server sent the callback: its `iss` is wrong, or missing although the server promises it (RFC
            /// 9207).
            case wrongIssuer
            /// The user or the server denied the sign-in (`access_denied`).
            case denied
            /// The user closed the window, the task was cancelled, or no callback came in time.
            case cancelled
            /// The callback has no code, several codes, or a token.
            case invalidCallback
            /// The ID token failed this check.
            case idToken(IDTokenCheck)
            /// The response of the userinfo endpoint cannot be read, or it describes another user.
            case userinfo
            /// The server responded with another error code: `invalid_scope`, `server_error`, `invalid_grant`.
            case refused(code: String)
            /// The server did not respond, or its response cannot be understood.
            case unreachable
            /// The server or this system lacks something that the sign-in needs.
            case unsupported
            /// There is no browser.
            case noBrowser
            /// The session could not begin: ``/Martlet/SessionError/sessionChanged`` if another sign-in or a sign-out
            /// came first.
            case session(SessionError)
        }

        /// A check of an ID token (OpenID Connect Core 1.0, section 3.1.3.7; RFC 8725).
        @nonexhaustive public enum IDTokenCheck: Sendable, Hashable, CaseIterable {
            /// The response has an ID token.
            case presence
            /// It is a signed token in compact form, not longer than 64 KB.
            case format
            /// No object in it has two members with the same name.
            case duplicateMember
            /// It needs no extension (`crit`).
            case critical
            /// It is signed by RS256, PS256, ES256, ES384 or EdDSA, and the server lists the algorithm.
            case algorithm
            /// The server publishes a key for it.
            case key
            /// Only one key matches.
            case severalKeys
            /// The RSA key has at least 2048 bits.
            case weakKey
            /// The signature is that of the key.
            case signature
            /// `iss` is the server.
            case issuer
            /// `sub` names a user; after a refresh, the same user.
            case subject
            /// `aud` contains the client; after a refresh, it is the same audience.
            case audience
            /// `azp` is the client. It must be present if `aud` has other members.
            case authorizedParty
            /// `exp` has not passed.
            case expiry
            /// `iat` has passed.
            case issueTime
            /// `nbf` has passed.
            case notBefore
            /// `nonce` is that of the sign-in.
            case nonce
            /// `at_hash` is that of the access token.
            case accessTokenHash
            /// `auth_time` is not longer ago than ``SignInOptions/maxAge``.
            case authenticationTime
            /// `acr` is one of ``SignInOptions/acr``.
            case authenticationClass
        }

        /// The step that failed.
        public let kind: Kind
        /// A message for developers: what failed, where, and what to do. It shows no code, verifier, token or key.
        public let description: String
        let userText: UserText

        init(_ kind: Kind, _ description: String, userText: UserText? = nil) {
            self.kind = kind
            self.description = Redaction.redactReason(description)
            self.userText = userText ?? kind.userText
        }
    }

    extension OAuthError: CustomStringConvertible {}

    extension OAuthError: LocalizedError {
        /// A message for the user, in the user's language: English or Korean.
        public var errorDescription: String? {
            if case .session(let error) = kind { error.errorDescription } else { userText.text }
        }
    }

    extension OAuthError.Kind {
        fileprivate var userText: UserText {
            switch self {
            case .discovery, .invalidCallback, .idToken, .userinfo, .unreachable: .notUnderstood
            case .stateMismatch, .wrongIssuer, .refused, .denied: .refused
            case .cancelled: .cancelled
            case .unsupported: .appFault
            case .noBrowser: .noBrowser
            case .session: .sessionChanged
            }
        }
    }
#endif
