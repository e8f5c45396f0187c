#if canImport(CryptoKit) || Encryption
    #if canImport(SwiftUI)
        internal import Martlet
        public import SwiftUI

        /// A button that signs the user in with a browser. Below it, the view shows the progress, or the error in the
        /// user's language.
        @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
        public struct OAuthSignInButton: View {
            private let model: OAuthSignInModel
            private let title: String
            private let browser: @MainActor () -> OAuthBrowser

            /// Creates a button.
            /// - Parameters:
            ///   - model: Signs the user in.
            ///   - title: The title; "Sign In" in the user's language if `nil`.
            ///   - browser: Makes the browser, for example one for the button's window.
            public init(
                _ model: OAuthSignInModel, title: String? = nil, browser: @escaping @MainActor () -> OAuthBrowser
            ) {
                self.model = model
                self.title = title ?? (UserText.Language.current == .korean ? "로그인" : "Sign In")
                self.browser = browser
            }

            /// The button and the state of the sign-in.
            public var body: some View {
                VStack {
                    Button(title) { model.signIn(with: browser()) }.disabled(model.isSigningIn)
                    if model.isSigningIn { ProgressView() }
                    if let text = model.error?.errorDescription { Text(text).foregroundStyle(.secondary) }
                }
            }
        }

        #if DEBUG
            // A provider instead of the macro `#Preview`, whose plug-in only Xcode has.
            @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
            struct OAuthSignInButtonPreviews: PreviewProvider {
                static var previews: some View {
                    let server = OAuthServer(
                        issuer: "https://id.example.com", client: OAuthClient(id: "example-app"),
                        redirect: .appScheme("com.example.app:/callback"))
                    let tokens = TokenManager(baseURL: "https://api.example.com", store: .inMemory, oauth: server)
                    return OAuthSignInButton(OAuthSignInModel(server, to: tokens, scope: ["openid"])) {
                        OAuthBrowser { url in url }
                    }
                }
            }
        #endif
    #endif
#endif
