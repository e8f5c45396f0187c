#if canImport(CryptoKit) || Encryption
    internal import Martlet

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    /// A sign-in that has begun: open ``url`` in the user's browser, and pass the callback to
    /// ``OAuthServer/finish(_:callback:to:)``.
    ///
    /// A web server keeps it between two requests of the same user, an app between its launches. It contains secrets:
    /// encode it only into a place that no other user can read or replace, such as a session on the server, and use it
    /// once. Its description shows no secrets.
    public struct SignInAttempt: Sendable, Hashable, Codable {
        /// The page of the server on which the user signs in.
        public let url: URL
        let issuer: String
        let redirectURI: String
        let state: Secret
        let verifier: Secret
        /// `nil` if the scope has no `openid`, so that the server sends no ID token.
        let nonce: Secret?
        let maxAge: Duration?
        let acr: [String]
        let resources: [String]
        let fetchesUserinfo: Bool

        /// The secrets of the attempt, which no text may show.
        var secrets: [Secret] { [state, verifier] + [nonce].compactMap(\.self) }
    }

    extension SignInAttempt: CustomStringConvertible, CustomReflectable {
        /// The server, without the secrets.
        public var description: String { "a sign-in at \(issuer)" }

        /// The server only, so that `dump` shows no secret.
        public var customMirror: Mirror { Mirror(self, children: ["issuer": issuer], displayStyle: .struct) }
    }
#endif
