#if canImport(Combine) || OpenCombine
    public import Martlet

    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif

    /// Follows a session, restores it at the start, and says which screen to show.
    ///
    /// ```swift
    /// @StateObject private var session = SessionViewModel(tokens)
    ///
    /// var body: some View {
    ///     SignedInGate(session) { _ in HomeView() } login: { LoginView() }
    /// }
    /// ```
    ///
    /// `SignedInGate` calls ``run()``; with views of your own, call it where they begin. From iOS 17 and macOS 14 on there is
    /// ``SessionModel`` with the same face. In an app without Combine this needs the package's trait `OpenCombine`.
    @MainActor public final class SessionViewModel: ObservableObject {
        /// All that is known of the session, for subscribers.
        @Published public private(set) var status = SessionStatus()
        private let core: SessionCore

        /// Follows a session.
        /// - Parameters:
        ///   - source: Where its state comes from.
        ///   - patience: How long ``SessionRoute/loading`` stays at the start while the stored tokens are tried; then what is
        ///     stored is believed.
        ///   - time: The clock.
        public init(_ source: SessionSource, patience: Duration = .seconds(3), time: any TimeSource = .system) {
            core = SessionCore(source, patience: patience, time: time)
            core.changed = { [weak self] status in self?.status = status }
        }

        /// Follows the session that a manager owns.
        public convenience init(_ tokens: TokenManager) {
            self.init(SessionSource(tokens))
        }

        /// The screen to show.
        public var route: SessionRoute { status.route }

        /// The session that is signed in, or the one that has ended while the app ran, until somebody signs in
        /// again or out.
        public var session: SignedInSession? { status.session }

        /// Restores the session and follows it until the task is cancelled.
        public func run() async { await core.run() }

        /// Tries once more to read what is stored, for a button where it was ``SessionRoute/unavailable(_:)``.
        @discardableResult public func retry() -> Task<Void, Never> { core.retry() }

        /// Signs out: here at once, at the server as well as it can be done.
        @discardableResult public func signOut() -> Task<Void, Never> { core.signOut() }
    }
#endif
