#if canImport(CryptoKit) || Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The user who has signed in: the verified claims of the ID token and, if ``SignInOptions/fetchesUserinfo`` is
    /// set, those of the userinfo endpoint.
    ///
    /// ```swift
    /// struct Profile: Decodable { var name: String; var email: String? }
    ///
    /// let user = try await id.signIn(to: tokens, scope: ["openid", "profile", "email"], with: browser)
    /// let profile = try user.claims(as: Profile.self)
    /// ```
    public struct OAuthUser: Sendable, Hashable {
        /// `sub`: identifies the user at this server, and never changes. `nil` if the scope has no `openid`.
        public let subject: String?
        private let idTokenClaims: Data?
        private let userinfoClaims: Data?

        init(subject: String?, idTokenClaims: Data?, userinfoClaims: Data?) {
            self.subject = subject
            self.idTokenClaims = idTokenClaims
            self.userinfoClaims = userinfoClaims
        }

        /// Decodes the claims of the ID token. Dates are seconds since 1970, as in every JWT.
        /// - Throws: The error of the decoder; also if the scope has no `openid`.
        public func claims<Claims: Decodable>(as type: Claims.Type = Claims.self) throws -> Claims {
            try Self.decode(type, from: idTokenClaims)
        }

        /// Decodes the response of the userinfo endpoint.
        /// - Throws: The error of the decoder; also if the sign-in did not ask for it.
        public func userinfo<Claims: Decodable>(as type: Claims.Type = Claims.self) throws -> Claims {
            try Self.decode(type, from: userinfoClaims)
        }

        private static func decode<Claims: Decodable>(_ type: Claims.Type, from claims: Data?) throws -> Claims {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return try decoder.decode(type, from: claims ?? Data())
        }
    }

    extension OAuthUser: CustomStringConvertible, CustomReflectable {
        /// The subject only, without personal data.
        public var description: String { "the user \(subject ?? "without an ID token")" }

        /// The subject only.
        public var customMirror: Mirror { Mirror(self, children: ["subject": subject as Any], displayStyle: .struct) }
    }
#endif
