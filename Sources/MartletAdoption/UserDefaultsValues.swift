// UserDefaults is part of the full Foundation, which Linux apps without URLSession do not link.
#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation
    public import Martlet
    internal import MartletStorage

    extension FormerTokens {
        /// Tokens in two values of `UserDefaults`.
        ///
        /// ```swift
        /// let adopting = store.adopting(
        ///     .userDefaults(accessToken: "accessToken", refreshToken: "refreshToken"), deletingThem: true)
        /// ```
        ///
        /// Before a device is first unlocked, `UserDefaults` may look empty. Nothing is adopted then, and the next
        /// launch tries again.
        ///
        /// A further value, the key of the access token with `.adopted`, records that the tokens were taken over: a
        /// backup may contain the values, and not the Keychain.
        /// - Parameters:
        ///   - accessToken: The key of the access token, a string.
        ///   - refreshToken: The key of the refresh token, a string; `nil` if there is none.
        ///   - suiteName: The domain; `nil` for the app's own.
        ///   - user: The user of the tokens, if the app knows it.
        public static func userDefaults(
            accessToken: String, refreshToken: String?, suiteName: String? = nil,
            user: @escaping @Sendable (Tokens) -> SessionAccount = { _ in SessionAccount() }
        ) -> FormerTokens {
            let mark = accessToken + ".adopted"
            return FormerTokens(
                place: ["UserDefaults", suiteName ?? "", accessToken, refreshToken ?? ""].joined(separator: " "),
                read: { _ in
                    let defaults = try defaults(suiteName)
                    guard defaults.object(forKey: mark) == nil else { return nil }
                    let refresh = refreshToken.flatMap { defaults.string(forKey: $0) }
                    let tokens = Tokens(formerAccess: defaults.string(forKey: accessToken), refresh: refresh)
                    return tokens.map { ($0, user($0)) }
                },
                note: {
                    let defaults = try defaults(suiteName)
                    defaults.set(true, forKey: mark)
                    _ = defaults.synchronize()
                },
                delete: { _ in
                    let defaults = try defaults(suiteName)
                    for key in [accessToken, refreshToken].compactMap(\.self) { defaults.removeObject(forKey: key) }
                    _ = defaults.synchronize()
                })
        }

        private static func defaults(_ suiteName: String?) throws -> UserDefaults {
            guard let suiteName else { return .standard }
            guard let defaults = UserDefaults(suiteName: suiteName) else {
                throw StorageError(
                    .unreachable,
                    "UserDefaults has no domain \(suiteName): use neither the bundle identifier nor the global domain")
            }
            return defaults
        }
    }
#endif
