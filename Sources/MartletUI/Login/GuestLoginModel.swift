public import Observation

/// Signs a guest in with a name and an optional picture. Views observe it with the Observation framework.
///
/// ```swift
/// @State private var login = GuestLoginModel(client)
///
/// var body: some View {
///     TextField("Name", text: $login.userName)
///     Button("Continue") { login.registerGuest() }.disabled(login.isRegistering)
///     Text(login.errorText ?? "")
/// }
/// ```
///
/// `GuestLoginForm` is a complete login screen for it. Before iOS 17 and macOS 14, use ``GuestLoginViewModel``.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable public final class GuestLoginModel: GuestLogin {
    /// The current input, progress and result.
    public private(set) var state = GuestLoginState()
    /// Does the work that the members of ``GuestLogin`` start.
    public let core: GuestLoginCore

    /// Creates a model that shows the state of a core.
    public init(core: GuestLoginCore) {
        self.core = core
        state = core.state
        core.onChange = { [weak self] in self?.state = $0 }
    }
}
