#if canImport(CryptoKit) || Encryption
    internal import Martlet
    internal import MartletStorage

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The keys that the server publishes, fetched when they are needed.
    final class KeyStore: Sendable {
        private struct State {
            var keys: KeySet?
            /// The uptime of the last request for the keys.
            var askedAt: Duration?
        }

        private let link: ServerLink
        private let state = Locked(State())
        private let flight: SingleFlight<Result<KeySet, OAuthError>>

        /// Keys of this age are fetched again, so that a withdrawn key no longer verifies anything.
        static let lifetime = Duration.seconds(300)
        /// Younger keys are not fetched again, even if none of them suits a token.
        static let leastAge = Duration.seconds(60)

        init(over link: ServerLink) {
            self.link = link
            flight = SingleFlight(time: link.time, outlivesCallers: false, isDetached: true)
        }

        /// The key for a token's signature. If none suits, the keys are fetched again, at most once a minute.
        /// - Throws: ``OAuthError/Kind/discovery`` if they cannot be read; ``OAuthError/Kind/idToken(_:)`` if there is
        ///   no key for the token, or several.
        func key(for token: SignedToken, from url: String) async throws(OAuthError) -> VerificationKey {
            let known = state.withLock { state -> KeySet? in
                guard let askedAt = state.askedAt, link.time.uptime - askedAt < Self.lifetime else { return nil }
                return state.keys
            }
            if let known, let key = try select(token, known, url) { return key }
            // When the known keys do not suit the token, a failed request counts toward the limit too.
            let waits = state.withLock { state in
                known != nil && state.askedAt.map { link.time.uptime - $0 < Self.leastAge } ?? false
            }
            if !waits, let key = try select(token, try await fetch(from: url), url) { return key }
            throw OAuthError(
                .idToken(.key), "\(url) has no key for the ID token's signature. Ask the server's operator.")
        }

        private func select(
            _ token: SignedToken, _ keys: KeySet, _ url: String
        ) throws(OAuthError) -> VerificationKey? {
            do throws(FailedCheck) {
                return try keys.key(for: token)
            } catch {
                throw OAuthError(failed: error.check, at: url)
            }
        }

        private func fetch(from url: String) async throws(OAuthError) -> KeySet {
            let result = await flight.run { [link, state] in
                state.withLock { $0.askedAt = link.time.uptime }
                do throws(OAuthError) {
                    let response = try await link.get(url, as: .discovery)
                    guard response.status == 200, let keys = try? KeySet(response.body) else {
                        throw OAuthError(
                            .discovery,
                            "\(url) responded with \(response.status), and not with a key set. Try again later.")
                    }
                    state.withLock { $0.keys = keys }
                    return .success(keys)
                } catch {
                    return .failure(error)
                }
            }
            guard let result else { throw OAuthError(.cancelled, "GET \(url) was cancelled.") }
            return try result.get()
        }
    }
#endif
