#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif
    public import MartletImages

    /// Signs a guest in with a name and an optional picture. Views observe it with Combine.
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
    /// `GuestLoginForm` is a complete login screen for it. From iOS 17 and macOS 14 on, you can use ``GuestLoginModel``
    /// instead. On platforms without Combine, this class needs the package trait `OpenCombine`.
    @MainActor public final class GuestLoginViewModel: ObservableObject, GuestLogin {
        /// The current input, progress and result, also as a publisher.
        @Published public private(set) var state = GuestLoginState()
        /// The name in the text field, also as a publisher.
        @Published public var userName = "" {
            didSet { if userName != core.state.userName { core.type(userName) } }
        }
        /// The chosen picture, also as a publisher. It stays after a registration until the app sets it to `nil` or the
        /// guest signs out.
        @Published public var selectedImage: ImageSource? {
            didSet { if selectedImage != core.state.selectedImage { core.choose(selectedImage) } }
        }
        /// Whether a user is signed in, also as a publisher. It follows the session from the model's creation on.
        @Published public private(set) var isAuthenticated = false
        /// Does the work that the members of ``GuestLogin`` start.
        public let core: GuestLoginCore

        /// Creates a model that shows the state of a core.
        public init(core: GuestLoginCore) {
            self.core = core
            show(core.state)
            core.onChange = { [weak self] in self?.show($0) }
        }

        private func show(_ state: GuestLoginState) {
            self.state = state
            if userName != state.userName { userName = state.userName }
            if selectedImage != state.selectedImage { selectedImage = state.selectedImage }
            if isAuthenticated != state.isAuthenticated { isAuthenticated = state.isAuthenticated }
        }
    }
#endif
