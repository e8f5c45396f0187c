#if canImport(SwiftUI)
    public import Martlet
    public import SwiftUI

    /// Shows the screen for the state of a session: a splash screen at launch, the login, or the content.
    ///
    /// If the server ends the session, the login takes the place of the content, which is no longer visible. If the
    /// stored session cannot be read, the gate explains why and offers the route's ``SessionRoute/recoveryActions``.
    ///
    /// ```swift
    /// SignedInGate(session) { _ in
    ///     HomeView()
    /// } login: {
    ///     GuestLoginForm(login)
    /// }
    /// ```
    ///
    /// The gate restores the session and follows it while it is visible. The content's `@State` ends with the session,
    /// so that the next user does not see it.
    public struct SignedInGate<Content: View, Login: View>: View {
        private let session: any SessionRouting
        private let showsExpiredContent: Bool
        private let content: (SignedInSession) -> Content
        private let login: () -> Login

        /// Creates a gate.
        /// - Parameters:
        ///   - session: A ``SessionModel`` or a ``SessionViewModel``.
        ///   - showsExpiredContent: Whether the content stays visible after the server has ended the session, with the
        ///     login as a sheet over it. Anyone with the device then sees it without a session. SwiftUI shows one sheet
        ///     at a time: dismiss the content's own sheets when the route becomes ``SessionRoute/signInAgain(_:)``.
        ///   - content: The view for a signed-in user.
        ///   - login: The view for a signed-out user, also shown after the session has ended.
        public init(
            _ session: any SessionRouting, showsExpiredContent: Bool = false,
            @ViewBuilder content: @escaping (SignedInSession) -> Content, @ViewBuilder login: @escaping () -> Login
        ) {
            self.session = session
            self.showsExpiredContent = showsExpiredContent
            self.content = content
            self.login = login
        }

        /// The screen for the current route.
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
            let status = session.status
            return GateScreens(
                session: session, status: status,
                shown: status.shownSession(showsExpiredContent: showsExpiredContent), content: content, login: login)
        }
    }

    /// The screen for one status of the session, and the sheet that asks the user to sign in again.
    private struct GateScreens<Content: View, Login: View>: View {
        let session: any SessionRouting
        let status: SessionStatus
        let shown: SignedInSession?
        let content: (SignedInSession) -> Content
        let login: () -> Login

        var body: some View {
            ZStack {
                // One branch for both routes: the view behind the sheet must keep its identity and its state.
                if let shown {
                    content(shown).id(shown.id)
                } else {
                    otherScreen
                }
            }
            .sheet(isPresented: .constant(shown != nil && status.endReason != nil)) {
                SignInAgainView(session: session, message: message, login: login)
                    .interactiveDismissDisabled()
            }
        }

        @ViewBuilder private var otherScreen: some View {
            switch status.route {
            case .loading, .content: SplashView()
            case .login: login()
            case .signInAgain: SignInAgainView(session: session, message: message, login: login)
            case .unavailable, .unreadable:
                UnavailableView(
                    session: session, message: message, recoveryActions: status.route.recoveryActions, login: login)
            }
        }

        private var message: String { status.route.message ?? "" }
    }

    /// The screen at launch, until the stored session has been checked.
    private struct SplashView: View {
        var body: some View {
            ProgressView()
                .frame(maxWidth: .infinity, maxHeight: .infinity)
                .accessibilityLabel(Wording.loading.text)
        }
    }

    /// Says why the session ended, and shows the login and a button to sign out.
    private struct SignInAgainView<Login: View>: View {
        let session: any SessionRouting
        let message: String
        let login: () -> Login

        var body: some View {
            // The stack gives the explanation the height it needs before the login takes the rest.
            VStack {
                ScrollingIfNeeded {
                    Explanation(title: Wording.signInAgainTitle.text, message: message)
                }
                login()
                Button(Wording.signOut.text, role: .destructive) { session.signOut() }
                    .padding()
            }
            .task { await Announcer.system.announce(message) }
        }
    }

    /// Says why the stored session cannot be read, and offers ways to continue.
    private struct UnavailableView<Login: View>: View {
        let session: any SessionRouting
        let message: String
        let recoveryActions: [RecoveryAction]
        let login: () -> Login
        @State private var showsLogin = false

        var body: some View {
            if showsLogin {
                login()
            } else {
                ScrollingIfNeeded {
                    VStack {
                        Explanation(title: Wording.unavailableTitle.text, message: message)
                        ForEach(recoveryActions) { action in
                            switch action {
                            // The message asks the user to unlock, and the store is then read again automatically.
                            case .unlock: EmptyView()
                            case .retry: Button(Wording.tryAgain.text) { session.retry() }.padding()
                            case .signIn: Button(Wording.signInAgainTitle.text) { showsLogin = true }.padding()
                            }
                        }
                    }
                }
            }
        }
    }

    /// Sizes itself to its content, and scrolls if the content does not fit, for example with large text.
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

    /// A title and a message.
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
            // Keep large text from being truncated.
            .fixedSize(horizontal: false, vertical: true)
            .padding()
        }
    }
#endif
