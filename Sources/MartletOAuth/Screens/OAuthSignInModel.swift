#if canImport(CryptoKit) || Encryption
    public import Martlet
    public import Observation

    /// Signs a user in with a browser, and reports the progress. Views observe it with the Observation framework.
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
        /// Whether a sign-in is in progress.
        public private(set) var isSigningIn = false
        /// The user who signed in last.
        public private(set) var user: OAuthUser?
        /// The error of the last sign-in; `nil` if it succeeded or the user cancelled it.
        public private(set) var error: OAuthError?

        private let server: OAuthServer
        private let tokens: TokenManager
        private let scope: [String]
        private let options: SignInOptions
        @ObservationIgnored private var task: Task<Void, Never>?

        /// Creates a model for sign-ins to one session.
        /// - Parameters:
        ///   - server: The server.
        ///   - tokens: The session to begin.
        ///   - scope: The scope.
        ///   - options: The options of each sign-in.
        public init(
            _ server: OAuthServer, to tokens: TokenManager, scope: [String], options: SignInOptions = SignInOptions()
        ) {
            self.server = server
            self.tokens = tokens
            self.scope = scope
            self.options = options
        }

        /// Starts a sign-in, unless one is in progress.
        /// - Parameter browser: Opens the browser and receives the callback.
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

        /// Cancels the sign-in in progress. Does nothing if its code has already been sent.
        public func cancel() {
            task?.cancel()
        }

        /// Waits until no sign-in is in progress, for tests.
        func finish() async {
            await task?.value
        }
    }
#endif
