public import Martlet
@_exported public import MartletGuests
public import MartletImages

/// Registers guests for a ``GuestLogin``: with a `NetworkClient` in an app, with closures in previews and tests.
///
/// ```swift
/// let model = GuestLoginViewModel(
///     GuestRegistration { name, _, _ in Guest(id: "1", name: name) })
/// ```
public struct GuestRegistration: Sendable {
    /// Registers a guest with a name and an optional picture, and reports progress to a monitor.
    public typealias Register =
        @Sendable (_ name: String, _ image: ImageSource?, _ monitor: TransferMonitor) async throws(NetworkError) ->
        Guest

    let register: Register
    let session: SessionSource

    /// Creates a registration that uses a client and signs guests in to its `TokenManager`.
    /// - Parameters:
    ///   - client: The client.
    ///   - guests: Registers the guest. If `nil`, a service with the default paths and fields.
    ///   - processor: Prepares the picture for upload.
    public init(
        _ client: NetworkClient, guests: GuestAuthService? = nil, processor: ImageProcessor = ImageProcessor()
    ) {
        let guests = guests ?? GuestAuthService(client)
        register = { name, image, monitor throws(NetworkError) in
            try await guests.register(name: name, image: image, processor: processor, monitor: monitor)
        }
        session = client.tokens.map { SessionSource($0) } ?? SessionSource(state: { .signedOut })
    }

    /// Creates a registration from closures.
    /// - Parameters:
    ///   - session: The session that a registration signs in.
    ///   - register: Registers a guest.
    public init(session: SessionSource = SessionSource(state: { .signedOut }), register: @escaping Register) {
        self.session = session
        self.register = register
    }
}
