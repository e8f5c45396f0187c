#if canImport(Combine) || OpenCombine
    public import Martlet
    public import MartletImages

    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif

    /// Signs a guest in by a name and perhaps a picture, for a login screen.
    ///
    /// ```swift
    /// @StateObject private var login = GuestLoginViewModel(client)
    ///
    /// var body: some View {
    ///     TextField("Name", text: $login.userName)
    ///     Button("Continue") { login.registerGuest() }.disabled(login.isRegistering)
    ///     Text(login.errorText ?? "")
    /// }
    /// ```
    ///
    /// `GuestLoginForm` is such a screen, ready made. From iOS 17 and macOS 14 on there is ``GuestLoginModel`` with the same
    /// face. In an app without Combine this needs the package's trait `OpenCombine`.
    @MainActor public final class GuestLoginViewModel: ObservableObject {
        /// The login as it is now, for subscribers.
        @Published public private(set) var state = GuestLoginState()
        private let core: GuestLoginCore

        /// A login.
        /// - Parameters:
        ///   - registration: Registers guests and has their session.
        ///   - longestName: How many characters a name may have.
        public init(_ registration: GuestRegistration, longestName: Int = 100) {
            core = GuestLoginCore(registration, longestName: longestName)
            core.changed = { [weak self] state in self?.state = state }
        }

        /// A login over a client, whose `TokenManager` has the session.
        public convenience init(_ client: NetworkClient) {
            self.init(GuestRegistration(client))
        }

        /// The name as it is typed.
        public var userName: String {
            get { state.userName }
            set { core.type(newValue) }
        }

        /// The picture that is chosen.
        public var selectedImage: ImageSource? {
            get { state.selectedImage }
            set { core.choose(newValue) }
        }

        /// Whether somebody is signed in.
        public var isAuthenticated: Bool { state.isAuthenticated }

        /// The guest who was registered here.
        public var guest: Guest? { state.guest }

        /// Whether a registration is under way.
        public var isRegistering: Bool { state.isRegistering }

        /// How far a registration has got; `nil` where none is under way.
        public var progress: UploadProgress? { state.progress }

        /// What went wrong, in the person's language.
        public var errorText: String? { state.errorText }

        /// Registers the guest. Whoever presses twice makes one guest.
        /// - Returns: The registration that is under way, for those who wait for its end.
        @discardableResult public func registerGuest() -> Task<Void, Never> { core.registerGuest() }

        /// Gives a registration up.
        public func cancelRegistration() { core.cancelRegistration() }

        /// Says that the chosen picture could not be loaded from where it is.
        public func imageFailed() { core.imageFailed() }

        /// Signs out: here at once, at the server as well as it can be done.
        @discardableResult public func logout() -> Task<Void, Never> { core.logout() }

        /// Keeps ``isAuthenticated`` true to the session, until the task is cancelled: also when it is restored at the start,
        /// or ended by the server.
        public func run() async { await core.run() }
    }
#endif
