public import Martlet
public import MartletImages

/// What a guest's login needs of the app: a `NetworkClient` there, closures in previews and tests.
///
/// ```swift
/// let model = GuestLoginViewModel(
///     GuestRegistration { name, _, _ in Guest(id: "1", name: name) })
/// ```
public struct GuestRegistration: Sendable {
    /// Registers a guest by name, perhaps with a picture, and tells a monitor how far it has got.
    public typealias Register =
        @Sendable (_ name: String, _ image: ImageSource?, _ monitor: TransferMonitor) async throws(NetworkError) ->
        Guest

    let register: Register
    let session: SessionSource

    /// Registers guests over a client, whose `TokenManager` has the session.
    /// - Parameters:
    ///   - client: The client.
    ///   - guests: Registers the guest; a service with the usual paths and fields if `nil`.
    ///   - processor: Prepares the picture.
    public init(
        _ client: NetworkClient, guests: GuestAuthService? = nil, processor: ImageProcessor = ImageProcessor()
    ) {
        let guests = guests ?? GuestAuthService(client)
        register = { name, image, monitor throws(NetworkError) in
            guard let image else { return try await guests.register(name: name, monitor: monitor) }
            return try await guests.register(name: name, image: image, processor: processor, monitor: monitor)
        }
        session = client.tokens.map { SessionSource($0) } ?? SessionSource(state: { .signedOut })
    }

    /// Registers guests in any way.
    /// - Parameters:
    ///   - session: The session that is signed in by it.
    ///   - register: Registers a guest.
    public init(session: SessionSource = SessionSource(state: { .signedOut }), register: @escaping Register) {
        self.session = session
        self.register = register
    }
}
