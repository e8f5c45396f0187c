#if canImport(CryptoKit) || Encryption
    public import Martlet
    public import Observation

    /// Signs a user in with a browser, and says how far it is. Views observe it with the Observation framework.
    ///
    /// ```swift
    /// @State private var signIn = OAuthSignInModel(id, to: tokens, scope: ["openid", "offline_access"])
    ///
    /// var body: some View {
    ///     OAuthSignInButton(signIn) { .webSession(anchor: window) }
    /// }
    /// ```
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor @Observable public final class OAuthSignInModel {
        /// Whether a sign-in is under way.
        public private(set) var isSigningIn = false
        /// The user who has signed in last.
        public private(set) var user: OAuthUser?
        /// The error of the last sign-in; `nil` if it succeeded, or if the user gave it up.
        public private(set) var error: OAuthError?

        private let server: OAuthServer
        private let tokens: TokenManager
        private let scope: [String]
        private let options: SignInOptions
        @ObservationIgnored private var task: Task<Void, Never>?

        /// A model for sign-ins to one session.
        /// - Parameters:
        ///   - server: The server.
        ///   - tokens: The session to begin.
        ///   - scope: The scope.
        ///   - options: Wishes for each sign-in.
        public init(
            _ server: OAuthServer, to tokens: TokenManager, scope: [String], options: SignInOptions = SignInOptions()
        ) {
            self.server = server
            self.tokens = tokens
            self.scope = scope
            self.options = options
        }

        /// Starts a sign-in, unless one is under way.
        /// - Parameter browser: The way to the browser and back.
        public func signIn(with browser: OAuthBrowser) {
            guard task == nil else { return }
            error = nil
            isSigningIn = true
            task = Task {
                do throws(OAuthError) {
                    user = try await server.signIn(to: tokens, scope: scope, options: options, with: browser)
                } catch {
                    if error.kind != .cancelled { self.error = error }
                }
                isSigningIn = false
                task = nil
            }
        }

        /// Gives up the sign-in under way. Nothing happens if its code has been sent already.
        public func cancel() {
            task?.cancel()
        }

        /// Waits until no sign-in is under way, for tests.
        func finish() async {
            await task?.value
        }
    }
#endif
