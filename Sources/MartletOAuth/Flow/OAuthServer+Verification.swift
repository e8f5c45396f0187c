#if canImport(CryptoKit) || Encryption
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension OAuthServer {
        func rules(by metadata: ServerMetadata) -> IDTokenRules {
            IDTokenRules(
                issuer: issuer, clientID: client.id, algorithms: metadata.algorithms, now: link.time.wallClock)
        }

        /// Verifies an ID token.
        /// - Returns: Its user, and its claims as they were written.
        /// - Throws: ``OAuthError/Kind/idToken(_:)``, ``OAuthError/Kind/discovery`` if the keys cannot be read, or
        ///   ``OAuthError/Kind/cancelled``.
        func verify(
            _ text: String, by rules: IDTokenRules, _ metadata: ServerMetadata
        ) async throws(OAuthError) -> (identity: IDTokenRules.Identity, payload: Data) {
            let token = try checked { () throws(FailedCheck) in
                let token = try SignedToken(text)
                try rules.checkAlgorithm(of: token)
                return token
            }
            guard let url = metadata.keysURL else { throw OAuthError(failed: .key, at: issuer) }
            let key = try await keys.key(for: token, from: url)
            do throws(FailedCheck) {
                return (try rules.verify(token, with: key), token.payload)
            } catch {
                guard error.check == .signature else { throw OAuthError(failed: error.check, at: issuer) }
            }
            let newer = try await keys.key(for: token, from: url, after: key)
            let identity = try checked { () throws(FailedCheck) in try rules.verify(token, with: newer) }
            return (identity, token.payload)
        }

        private func checked<Value>(_ check: () throws(FailedCheck) -> Value) throws(OAuthError) -> Value {
            do throws(FailedCheck) {
                return try check()
            } catch {
                throw OAuthError(failed: error.check, at: issuer)
            }
        }
    }
#endif
