#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif

    /// Follows a session, restores it at launch, and says which screen to show. Views observe it with Combine.
    ///
    /// ```swift
    /// @StateObject private var session = SessionViewModel(tokens)
    ///
    /// var body: some View {
    ///     SignedInGate(session) { _ in HomeView() } login: { LoginView() }
    /// }
    /// ```
    ///
    /// `SignedInGate` calls ``SessionRouting/run()``. In your own views, call it from a `task` modifier. From iOS 17
    /// and macOS 14 on, you can use ``SessionModel`` instead. On platforms without Combine, this class needs the
    /// package trait `OpenCombine`.
    @MainActor public final class SessionViewModel: ObservableObject, SessionRouting {
        /// The status of the session, also as a publisher.
        @Published public private(set) var status = SessionStatus()
        /// Does the work that the members of ``SessionRouting`` start.
        public let core: SessionCore

        /// Creates a model that shows the status of a core.
        public init(core: SessionCore) {
            self.core = core
            status = core.status
            core.onChange = { [weak self] in self?.status = $0 }
        }
    }
#endif
