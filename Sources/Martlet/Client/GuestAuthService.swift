internal import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Signs guests in: a name, perhaps a picture, and a session without a password.
///
/// Whoever asks while a guest is being made gets the same one, by whichever service over the same ``TokenManager``: a double
/// tap makes one guest, not two.
///
/// ```swift
/// let guests = GuestAuthService(client)
/// let guest = try await guests.register(name: "Ada", picture: .file(at: path))
/// ```
public final class GuestAuthService: Sendable {
    private let client: NetworkClient
    private let path: String
    private let nameField: String
    private let pictureField: String
    private let flight: SingleFlight<Result<Guest, NetworkError>>

    /// Signs guests in over a client that has a ``TokenManager``.
    /// - Parameters:
    ///   - client: Sends the registration and gets the session.
    ///   - path: Where guests are registered.
    ///   - nameField: The form field that has the name.
    ///   - pictureField: The form field that has the picture.
    public init(
        _ client: NetworkClient, path: String = "/auth/guest/register", nameField: String = "name",
        pictureField: String = "image"
    ) {
        self.client = client
        self.path = path
        self.nameField = nameField
        self.pictureField = pictureField
        self.flight =
            client.tokens?.guests.registration ?? SingleFlight(time: client.pipeline.time, outlivesCallers: false)
    }

    /// A picture as it is sent.
    public enum Picture: Sendable {
        /// Bytes in memory, with a name and a media type for them.
        case data(Data, filename: String, contentType: String)
        /// A file, streamed from disk; its media type is guessed from its name.
        case file(at: String)

        /// A file, streamed from disk; its media type is guessed from its name.
        public static func file(_ url: URL) -> Picture { .file(at: url.path) }
    }

    /// Registers a guest and starts a session.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - picture: The guest's picture, sent as it is.
    ///   - monitor: Is told how much of it has gone out. Where a registration is under way already, which this one joins, it
    ///     has nothing to tell.
    /// - Returns: The guest, once the session has been stored.
    /// - Throws: ``NetworkError``. A caller that is cancelled gets ``NetworkError/cancelled(_:)``, while the registration
    ///   goes on for whoever else waits for it; it is cancelled with the last of them.
    @discardableResult
    public func register(
        name: String, picture: Picture? = nil, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Guest {
        try await register(name: name, monitor: monitor) { picture }
    }

    /// Registers a guest with a picture that is made once the registration is under way: whoever asks again meanwhile gets
    /// the same guest, and no second picture is made.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - monitor: Is told how much has gone out.
    ///   - makePicture: Makes the picture; where it fails, nothing is sent.
    @discardableResult
    package func register(
        name: String, monitor: TransferMonitor?,
        makePicture: @escaping @Sendable () async throws(RequestProblem) -> Picture?
    ) async throws(NetworkError) -> Guest {
        // A caller who joins, or goes, is not told any more.
        defer { monitor?.finish() }
        let notSent = FailedCall(method: "POST", url: path, attempts: 0)
        guard !Task.isCancelled else { throw .cancelled(notSent) }
        let outcome = await flight.run { [client, path, nameField, pictureField] in
            await GuestGate.entering(for: client.tokens) {
                do throws(NetworkError) {
                    var form = MultipartForm()
                    form.append(name, named: nameField)
                    do throws(RequestProblem) {
                        form.append(try await makePicture(), named: pictureField)
                    } catch {
                        throw NetworkError.invalidRequest(notSent, error)
                    }
                    let registration = GuestRegistration(path: path, body: .multipart(form))
                    let answer: GuestAnswer = try await client.signIn(registration, monitor: monitor) { answer in
                        SessionAccount(userID: answer.guest.id, isGuest: true)
                    }
                    return .success(answer.guest)
                } catch {
                    return .failure(error)
                }
            }
        }
        guard let outcome else { throw .cancelled(FailedCall(method: "POST", url: path, attempts: 1)) }
        return try outcome.get()
    }

    /// Gives the guest who is signed in an account: sends the upgrade with the guest's token, and puts the session that the
    /// server answers in the guest's place, all at once.
    ///
    /// ```swift
    /// let user: User = try await guests.upgrade { guestID in
    ///     Upgrade(guestID: guestID, email: email, password: password)
    /// } account: { user in
    ///     SessionAccount(userID: user.id)
    /// }
    /// ```
    ///
    /// What was under way for the guest is not repeated under the account (``NetworkError/sessionChanged(_:)``), and a
    /// refresh of the guest's tokens that ends later is thrown away. If the upgrade fails, the guest stays signed in.
    /// - Parameters:
    ///   - type: What else the answer has to tell; ``Empty`` where it is of no interest.
    ///   - endpoint: Makes the call from the guest's id, `nil` where the server gave none. It is sent with the guest's
    ///     token, whatever it says about that.
    ///   - account: Who it is now, for the session's record.
    /// - Returns: The answer, once the session has been stored.
    /// - Throws: ``NetworkError``; ``NetworkError/signInRequired(_:)`` where nobody is signed in as a guest, and
    ///   ``NetworkError/sessionChanged(_:)`` where somebody signed in or out meanwhile.
    @discardableResult
    public func upgrade<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, _ endpoint: @Sendable (_ guestID: String?) -> any Endpoint,
        account: @Sendable (Value) -> SessionAccount = { _ in SessionAccount() }
    ) async throws(NetworkError) -> Value {
        // Read before the state: whoever signs in from here on ends this.
        let epoch = client.tokens?.epoch
        guard case .signedIn(let session) = await client.tokens?.loadedState, session.account.isGuest else {
            let upgrade = endpoint(nil)
            throw .signInRequired(FailedCall(method: upgrade.method.rawValue, url: upgrade.path, attempts: 0))
        }
        return try await client.signIn(
            endpoint(session.account.userID), as: type, authentication: .required, since: epoch, session: session.id,
            account: account)
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

private struct GuestRegistration: Endpoint {
    let path: String
    let body: RequestBody?
    var method: HTTPRequest.Method { .post }
    var authentication: AuthenticationRequirement { .none }
}

/// The guest in an answer: within `user`, or `result.user`, or the answer itself.
private struct GuestAnswer: Decodable, Sendable {
    let guest: Guest

    private enum CodingKeys: String, CodingKey {
        case user, guest, result, data
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for key in [CodingKeys.result, .data] where container.contains(key) {
            guest = try container.decode(GuestAnswer.self, forKey: key).guest
            return
        }
        for key in [CodingKeys.user, .guest] where container.contains(key) {
            guest = try container.decode(Guest.self, forKey: key)
            return
        }
        guest = try Guest(from: decoder)
    }
}
