public import Martlet
public import MartletGuests
public import MartletImages

/// A guest's sign-in with a name and an optional picture, for a login screen.
///
/// ``GuestLoginModel`` and ``GuestLoginViewModel`` conform to it, and every member below works the same in both. They
/// differ only in how a view observes ``state``: with the Observation framework or with Combine.
@MainActor public protocol GuestLogin: AnyObject, Sendable {
    /// The current input, progress and result.
    var state: GuestLoginState { get }

    /// Does the work that the members of this protocol start.
    var core: GuestLoginCore { get }

    /// Creates a model that shows the state of a core.
    init(core: GuestLoginCore)
}

extension GuestLogin {
    /// Creates a login.
    /// - Parameters:
    ///   - registration: Registers guests and provides their session.
    ///   - maximumNameLength: The maximum number of characters in a name.
    public init(_ registration: GuestRegistration, maximumNameLength: Int = 100) {
        self.init(core: GuestLoginCore(registration, maximumNameLength: maximumNameLength))
    }

    /// Creates a login that registers guests with a client and signs them in to its `TokenManager`.
    public init(_ client: NetworkClient) {
        self.init(GuestRegistration(client))
    }

    /// The name in the text field.
    public var userName: String {
        get { state.userName }
        set { core.type(newValue) }
    }

    /// The chosen picture. It stays after a registration, for a screen that shows it, until the app sets it to `nil` or
    /// the guest signs out.
    public var selectedImage: ImageSource? {
        get { state.selectedImage }
        set { core.choose(newValue) }
    }

    /// Whether a user is signed in. It follows the session from the model's creation on. Creating a model reads the
    /// store.
    public var isAuthenticated: Bool { state.isAuthenticated }

    /// The guest that this login registered.
    public var guest: Guest? { state.guest }

    /// Whether a registration is running.
    public var isRegistering: Bool { state.isRegistering }

    /// The progress of the running registration; `nil` if none is running.
    public var progress: UploadProgress? { state.progress }

    /// The message of the last error, in the user's language.
    public var errorText: String? { state.errorText }

    /// Registers the guest. If the name is empty or too long, sets ``errorText`` instead. A second call while a
    /// registration is running joins it, so a double tap creates one guest.
    /// - Returns: A task that ends with the registration.
    @discardableResult public func registerGuest() -> Task<Void, Never> { core.registerGuest() }

    /// Cancels the running registration.
    public func cancelRegistration() { core.cancelRegistration() }

    /// Removes the chosen picture because it could not be loaded, and sets ``errorText``.
    public func discardUnreadableImage() { core.discardUnreadableImage() }

    /// Cancels a running registration and signs out: on this device immediately, on the server if it can be reached.
    /// - Returns: A task that ends once the sign-out is complete.
    @discardableResult public func logout() -> Task<Void, Never> { core.logout() }

    /// Follows the session until the task is cancelled. Not needed: the model does so by itself.
    public func run() async { await core.run() }
}
