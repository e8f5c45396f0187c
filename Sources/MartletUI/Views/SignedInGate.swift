#if canImport(SwiftUI)
    public import Martlet
    public import SwiftUI

    /// Shows what the session allows: a splash screen at the start, the login, the content, the login over the content once
    /// the server has ended the session, or a word on why nobody knows.
    ///
    /// ```swift
    /// SignedInGate(session) { _ in
    ///     HomeView()
    /// } login: {
    ///     GuestLoginForm(login)
    /// }
    /// ```
    ///
    /// It restores the session and follows it as long as it is shown. What the content remembers of itself (`@State`) ends with
    /// the session, so that the next person does not see it. A sheet of the content's own has to make room for the one that asks
    /// to sign in again: close it when ``SessionRoute/signInAgain(_:)`` comes.
    public struct SignedInGate<Content: View, Login: View>: View {
        private let session: any SessionFace
        private let content: (SignedInSession) -> Content
        private let login: () -> Login

        /// A gate over a view model.
        /// - Parameters:
        ///   - session: The session.
        ///   - content: What is shown to whoever is signed in.
        ///   - login: What is shown to whoever is not, and once more in a sheet when the session has ended.
        public init(
            _ session: SessionViewModel, @ViewBuilder content: @escaping (SignedInSession) -> Content,
            @ViewBuilder login: @escaping () -> Login
        ) {
            self.session = session
            self.content = content
            self.login = login
        }

        /// A gate over an observable model.
        /// - Parameters:
        ///   - session: The session.
        ///   - content: What is shown to whoever is signed in.
        ///   - login: What is shown to whoever is not, and once more in a sheet when the session has ended.
        @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
        public init(
            _ session: SessionModel, @ViewBuilder content: @escaping (SignedInSession) -> Content,
            @ViewBuilder login: @escaping () -> Login
        ) {
            self.session = session
            self.content = content
            self.login = login
        }

        /// The screen that the session allows.
        public var body: some View {
            Group {
                if let model = session as? SessionViewModel {
                    Observing(model) { screens }
                } else {
                    screens
                }
            }
            .task(id: ObjectIdentifier(session)) { await session.run() }
        }

        private var screens: some View {
            GateScreens(session: session, status: session.status, content: content, login: login)
        }
    }

    private struct GateScreens<Content: View, Login: View>: View {
        let session: any SessionFace
        let status: SessionStatus
        let content: (SignedInSession) -> Content
        let login: () -> Login

        var body: some View {
            ZStack {
                // In one place: what is under the sheet must be the very view that was there before.
                if let shown = status.shownSession {
                    content(shown).id(shown.id)
                } else {
                    otherScreen
                }
            }
            .sheet(isPresented: .constant(status.shownSession != nil && status.endReason != nil)) {
                SignInAgainView(session: session, message: message, login: login)
                    .interactiveDismissDisabled()
            }
        }

        @ViewBuilder private var otherScreen: some View {
            switch status.route {
            case .loading, .content: SplashView()
            case .login: login()
            case .signInAgain: SignInAgainView(session: session, message: message, login: login)
            case .unavailable: UnavailableView(session: session, message: message, login: login)
            }
        }

        private var message: String { status.route.message ?? "" }
    }

    private struct SplashView: View {
        var body: some View {
            ProgressView()
                .frame(maxWidth: .infinity, maxHeight: .infinity)
                .accessibilityLabel(Wording.loading.text())
        }
    }

    private struct SignInAgainView<Login: View>: View {
        let session: any SessionFace
        let message: String
        let login: () -> Login

        var body: some View {
            // The stack offers the explanation its share before the login, which takes all the rest.
            VStack {
                ScrollingIfNeeded {
                    Explanation(title: Wording.signInAgainTitle.text(), message: message)
                }
                login()
                Button(Wording.signOut.text(), role: .destructive) { session.signOut() }
                    .padding()
            }
            .task { announce(message) }
        }
    }

    private struct UnavailableView<Login: View>: View {
        let session: any SessionFace
        let message: String
        let login: () -> Login
        @State private var showsLogin = false

        var body: some View {
            if showsLogin {
                login()
            } else {
                ScrollingIfNeeded {
                    VStack {
                        Explanation(title: Wording.unavailableTitle.text(), message: message)
                        Button(Wording.tryAgain.text()) { session.retry() }
                            .padding()
                        // A record that is damaged for good must not shut its owner out.
                        Button(Wording.signInAgainTitle.text()) { showsLogin = true }
                            .padding()
                    }
                }
            }
        }
    }

    /// As high as its content where there is room for it; less where the text is large or the screen small, and then it
    /// scrolls.
    private struct ScrollingIfNeeded<Content: View>: View {
        private let content: Content

        init(@ViewBuilder content: () -> Content) {
            self.content = content()
        }

        var body: some View {
            ViewThatFits(in: .vertical) {
                content
                ScrollView {
                    content.frame(maxWidth: .infinity)
                }
            }
        }
    }

    private struct Explanation: View {
        let title: String
        let message: String

        var body: some View {
            VStack {
                Text(title)
                    .font(.title2)
                    .accessibilityAddTraits(.isHeader)
                Text(message)
                    .multilineTextAlignment(.center)
            }
            // Not cut off where the text is large.
            .fixedSize(horizontal: false, vertical: true)
            .padding()
        }
    }
#endif
