public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Registers guests, whose sessions need no password, and upgrades a guest to an account.
///
/// Concurrent registrations share one guest, even with several services over the same `TokenManager`: a double tap
/// creates one guest.
///
/// ```swift
/// let guests = GuestAuthService(client)
/// let guest = try await guests.register(name: "Ada", picture: .file(at: path))
/// ```
public final class GuestAuthService: Sendable {
    private let client: NetworkClient
    private let path: String
    private let fields: GuestFields
    private let registration: SharedSignIn<NetworkResponse<Guest>>

    /// Creates a service over a client that has a `TokenManager`.
    /// - Parameters:
    ///   - client: Sends the registration, and gets the session.
    ///   - path: The path of the registration.
    ///   - fields: The server's field names in the registration and its response.
    public init(
        _ client: NetworkClient, path: String = "/auth/guest/register", fields: GuestFields = .standard
    ) {
        self.client = client
        self.path = path
        self.fields = fields
        self.registration = SharedSignIn(client)
    }

    /// A picture to upload.
    public enum Picture: Sendable {
        /// Bytes in memory, with a file name and a media type.
        case data(Data, filename: String, contentType: String)
        /// A file, streamed from disk. Its media type is guessed from its name.
        case file(at: String)

        /// A file, streamed from disk. Its media type is guessed from its name.
        public static func file(_ url: URL) -> Picture { .file(at: url.path) }
    }

    /// Registers a guest and starts a session.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - picture: The guest's picture, sent unchanged.
    ///   - monitor: Reports the progress of the upload. It reports nothing if this call joins a registration in
    ///     progress.
    /// - Returns: The guest, after the session was written to the store. If the write failed, the session is
    ///   kept in memory (`SignedInSession.isSaved` is `false`) and the write is retried.
    /// - Throws: `NetworkError`; `NetworkError.sessionChanged(_:)` if a user signed in during the registration. A
    ///   cancelled caller gets `NetworkError.cancelled(_:)`, and the registration continues for the other callers.
    ///   Cancelling the last caller cancels the registration too. If the session has already started, that caller gets
    ///   the guest.
    @discardableResult
    public func register(
        name: String, picture: Picture? = nil, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Guest {
        try await registrationResponse(name: name, picture: picture, monitor: monitor).value
    }

    /// Registers a guest as ``register(name:picture:monitor:)`` does, and returns the guest with the head of the
    /// response and the `code`, `message` and `meta` of its envelope.
    ///
    /// ```swift
    /// let response = try await guests.registrationResponse(name: "Ada")
    /// log(response.meta?.requestID, response.value.id)
    /// ```
    public func registrationResponse(
        name: String, picture: Picture? = nil, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<Guest> {
        try await registrationResponse(name: name, monitor: monitor) { picture }
    }

    /// Registers a guest with a picture that is prepared during the registration. A caller that joins a running
    /// registration gets the same guest, and its picture is ignored.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - monitor: Reports the progress of the upload.
    ///   - makePicture: Prepares the picture. If it throws, nothing is sent.
    package func registrationResponse(
        name: String, monitor: TransferMonitor?,
        makePicture: @escaping @Sendable () async throws(InvalidRequestError) -> Picture?
    ) async throws(NetworkError) -> NetworkResponse<Guest> {
        // A caller that joins the registration or is cancelled gets no further events.
        defer { monitor?.finish() }
        let notSent = CallDescription(method: "POST", url: path, attempts: 0)
        guard !Task.isCancelled else { throw .cancelled(notSent) }
        let start = SignInStart.givingWay(in: client)
        let guest = try await registration.run { [self] () throws(NetworkError) in
            try await signIn(with: form(name, makePicture, notSent), start, monitor)
        }
        guard let guest else { throw .cancelled(CallDescription(method: "POST", url: path, attempts: 1)) }
        return guest
    }

    private func form(
        _ name: String, _ makePicture: @Sendable () async throws(InvalidRequestError) -> Picture?,
        _ notSent: CallDescription
    ) async throws(NetworkError) -> MultipartForm {
        var form = MultipartForm()
        form.append(name, named: fields.formName)
        do throws(InvalidRequestError) {
            form.append(try await makePicture(), named: fields.formPicture)
        } catch {
            guard !Task.isCancelled else { throw client.refused(.cancelled(notSent)) }
            throw client.refused(.invalidRequest(notSent, reason: error.description))
        }
        return form
    }

    private func signIn(
        with form: MultipartForm, _ start: SignInStart, _ monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Guest> {
        let endpoint = GuestRegistration(path: RequestPath(setting: path), body: .multipart(form))
        return try await client.signIn(
            endpoint, start, monitor: monitor
        ) { (guest: Guest) in
            SessionAccount(userID: guest.id, isGuest: true)
        } decode: { [client, fields] call throws(NetworkError) in
            let json = try client.decode(JSONValue.self, from: call)
            if let guest = fields.guest(in: json) { return guest }
            let reason = "it has no \(fields.id.joined(separator: " or "))"
            throw .decoding(
                call.call,
                ResponseDecodingError(type: "Guest", codingPath: "", reason: reason, response: call.response))
        }
    }

    /// Upgrades the signed-in guest to an account: sends the upgrade with the guest's token, and atomically replaces
    /// the guest's session with the one in the response.
    ///
    /// ```swift
    /// let user: User = try await guests.upgrade { guestID in
    ///     Upgrade(guestID: guestID, email: email, password: password)
    /// } account: { user in
    ///     SessionAccount(userID: user.id)
    /// }
    /// ```
    ///
    /// Calls of the guest that are still in progress are not replayed with the account
    /// (`NetworkError.sessionChanged(_:)`), and a late refresh of the guest's tokens is discarded. If the upgrade
    /// fails, the guest stays signed in.
    /// - Parameters:
    ///   - type: The type to decode from the response; `NoContent` to ignore the rest of it.
    ///   - endpoint: Creates the endpoint from the guest's id, which is `nil` if the server sent none. It is always
    ///     sent with the guest's token.
    ///   - account: The account to store with the session.
    /// - Returns: The decoded response, after the session was written to the store. If the write failed, the session is
    ///   kept in memory (`SignedInSession.isSaved` is `false`) and the write is retried.
    /// - Throws: `NetworkError`; `NetworkError.signInRequired(_:)` if no guest is signed in, and
    ///   `NetworkError.sessionChanged(_:)` if another sign-in or a sign-out came first.
    @discardableResult
    public func upgrade<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, _ endpoint: @Sendable (_ guestID: String?) -> any Endpoint,
        account: @Sendable (Value) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> Value {
        try await upgradeResponse(as: type, endpoint, account: account).value
    }

    /// Upgrades the signed-in guest as ``upgrade(as:_:account:)`` does, and returns the decoded response with its head
    /// and the `code`, `message` and `meta` of its envelope.
    public func upgradeResponse<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, _ endpoint: @Sendable (_ guestID: String?) -> any Endpoint,
        account: @Sendable (Value) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let replaced: (start: SignInStart, account: SessionAccount)?
        do throws(SessionError) {
            replaced = try await SignInStart.replacingSession(in: client)
        } catch {
            throw client.refused(NetworkError(error, for: CallDescription(unsent: endpoint(nil))))
        }
        guard let (start, guest) = replaced, guest.isGuest else {
            throw client.refused(.signInRequired(CallDescription(unsent: endpoint(nil))))
        }
        return try await client.signIn(endpoint(guest.userID), start, account: account) {
            [client] call throws(NetworkError) in
            try client.decode(type, from: call)
        }
    }
}

extension MultipartForm {
    fileprivate mutating func append(_ picture: GuestAuthService.Picture?, named name: String) {
        switch picture {
        case .data(let bytes, let filename, let contentType):
            append(bytes, named: name, filename: filename, contentType: contentType)
        case .file(let path):
            append(fileAt: path, named: name)
        case nil:
            break
        }
    }
}

/// The endpoint that registers a guest. It never carries a token.
private struct GuestRegistration: Endpoint {
    let path: RequestPath
    let body: RequestBody?
    var method: HTTPRequest.Method { .post }
    var authentication: AuthenticationRequirement { .none }
}
