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
            /// The uptime of the request that returned the keys.
            var fetchedAt: Duration?

            /// The keys, unless they are too old to verify anything.
            func current(at now: Duration) -> KeySet? {
                fetchedAt.map { now - $0 < KeyStore.lifetime } == true ? keys : nil
            }
        }

        private let link: ServerLink
        private let state = Locked(State())
        private let flight: SingleFlight<Result<KeySet, OAuthError>>

        /// Keys of this age are fetched again, so that a withdrawn key no longer verifies anything.
        static let lifetime = Duration.seconds(300)
        /// Keys younger than this are not fetched again, even if none of them fits a token.
        static let leastAge = Duration.seconds(60)

        init(over link: ServerLink) {
            self.link = link
            flight = SingleFlight(time: link.time, outlivesCallers: false)
        }

        /// The key for a token's signature. If no known key suits, the keys are fetched again, unless they are
        /// younger than a minute.
        /// - Parameter failed: A key that suits, but has not made the signature. The server may have replaced it
        ///   without changing its `kid`.
        /// - Throws: ``OAuthError/Kind/discovery`` if they cannot be read; ``OAuthError/Kind/idToken(_:)`` if there is
        ///   no key for the token, or several.
        func key(
            for token: SignedToken, from url: String, after failed: VerificationKey? = nil
        ) async throws(OAuthError) -> VerificationKey {
            let known = state.withLock { $0.current(at: link.time.uptime) }
            if let known, let key = try? select(token, known, url), key != failed { return key }
            if let key = try select(token, try await newerKeys(from: url), url) { return key }
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

        /// Fetches the keys, or waits for the request that is under way. For a minute after they have arrived, the known
        /// keys are the newest ones. A request that fails says nothing about them.
        private func newerKeys(from url: String) async throws(OAuthError) -> KeySet {
            let result = await flight.run { [link, state] in
                let now = link.time.uptime
                let recent = state.withLock { state -> KeySet? in
                    guard let fetchedAt = state.fetchedAt, now - fetchedAt < Self.leastAge else { return nil }
                    return state.keys
                }
                if let recent { return .success(recent) }
                do throws(OAuthError) {
                    let response = try await link.get(url, as: .discovery)
                    guard response.status == 200, let keys = try? KeySet(response.body) else {
                        throw OAuthError(
                            .discovery,
                            "\(url) responded with \(response.status), but without a key set. Try again later.")
                    }
                    state.withLock { ($0.keys, $0.fetchedAt) = (keys, now) }
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
