#if canImport(CryptoKit) || Encryption
    internal import Martlet
    internal import MartletStorage

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The rules that an ID token must satisfy (OpenID Connect Core 1.0, section 3.1.3.7).
    struct IDTokenRules: Sendable {
        /// The subject and audience of the ID token that a session began with.
        struct Identity: Sendable, Hashable {
            let subject: String
            let audience: [String]
        }

        let issuer: String
        let clientID: String
        /// The algorithms that the server lists; `nil` if it lists none.
        var algorithms: [String]?
        /// The attempt's nonce; `nil` for the response to a refresh, which need not repeat it.
        var nonce: String?
        /// The access token that came with the ID token.
        var accessToken: Secret?
        /// The maximum time since the user last authenticated, if the sign-in limits it.
        var maxAge: Duration?
        /// The essential values of `acr`; empty if any value is acceptable.
        var acr: [String] = []
        let now: Date

        /// The tolerated difference between the server's clock and this device's, in seconds.
        static let leeway = 60.0

        /// Verifies the signature and the claims of a token.
        func verify(_ token: SignedToken, with key: VerificationKey) throws(FailedCheck) -> Identity {
            try checkAlgorithm(of: token)
            guard key.verifies(token) else { throw FailedCheck(.signature) }
            return try checkClaims(of: token)
        }

        /// Refuses an algorithm that the server does not list.
        func checkAlgorithm(of token: SignedToken) throws(FailedCheck) {
            guard let algorithms, !algorithms.contains(token.algorithm.rawValue) else { return }
            throw FailedCheck(.algorithm)
        }

        /// Checks the claims of a token whose signature is verified.
        func checkClaims(of token: SignedToken) throws(FailedCheck) -> Identity {
            let claims = token.claims
            guard let tokenIssuer = claims["iss"]?.string, tokenIssuer.isIdentical(to: issuer) else {
                throw FailedCheck(.issuer)
            }
            // The specification allows 255 characters.
            guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.utf8.count <= 255 else {
                throw FailedCheck(.subject)
            }
            let audience = try audience(in: claims)
            try checkTimes(claims)
            if let nonce, claims["nonce"]?.string?.isIdentical(to: nonce) != true { throw FailedCheck(.nonce) }
            try checkAccessToken(token)
            try checkAuthentication(claims)
            return Identity(subject: subject, audience: audience)
        }

        private func audience(in claims: [String: StrictJSON]) throws(FailedCheck) -> [String] {
            guard let audience = claims["aud"]?.string.map({ [$0] }) ?? claims["aud"]?.strings,
                audience.contains(where: { $0.isIdentical(to: clientID) })
            else { throw FailedCheck(.audience) }
            if let party = claims["azp"] {
                guard let party = party.string, party.isIdentical(to: clientID) else {
                    throw FailedCheck(.authorizedParty)
                }
            } else if audience.count > 1 {
                // Without `azp`, the token may have been issued to another client in `aud`.
                throw FailedCheck(.authorizedParty)
            }
            return audience
        }

        private func checkTimes(_ claims: [String: StrictJSON]) throws(FailedCheck) {
            let now = now.timeIntervalSince1970
            guard let expiry = claims["exp"]?.number, now < expiry + Self.leeway else { throw FailedCheck(.expiry) }
            guard let issued = claims["iat"]?.number, issued <= now + Self.leeway else { throw FailedCheck(.issueTime) }
            guard let start = claims["nbf"] else { return }
            guard let start = start.number, start <= now + Self.leeway else { throw FailedCheck(.notBefore) }
        }

        private func checkAccessToken(_ token: SignedToken) throws(FailedCheck) {
            guard let hash = token.claims["at_hash"], let accessToken else { return }
            // No specification names the hash function of EdDSA. Most servers use that of Ed25519, SHA-512; Glewlwyd
            // 2.7.5 uses SHA-256. With either, no other access token has the same hash.
            let functions: [SigningAlgorithm] = token.algorithm == .edDSA ? [.edDSA, .es256] : [token.algorithm]
            let isExpected = functions.contains { function in
                hash.string?.isIdentical(to: Base64URL.encode(function.halfDigest(of: accessToken.reveal()))) == true
            }
            guard isExpected else { throw FailedCheck(.accessTokenHash) }
        }

        private func checkAuthentication(_ claims: [String: StrictJSON]) throws(FailedCheck) {
            if let maxAge {
                guard let authenticated = claims["auth_time"]?.number,
                    now.timeIntervalSince1970 <= authenticated + maxAge.inSeconds + Self.leeway
                else { throw FailedCheck(.authenticationTime) }
            } else if let time = claims["auth_time"], time.number == nil {
                throw FailedCheck(.authenticationTime)
            }
            guard !acr.isEmpty else { return }
            guard let value = claims["acr"]?.string, acr.contains(where: { $0.isIdentical(to: value) }) else {
                throw FailedCheck(.authenticationClass)
            }
        }
    }
#endif
