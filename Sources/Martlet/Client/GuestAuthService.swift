internal import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Signs guests in: a name, perhaps a picture, and a session without a password.
///
/// Whoever asks while a guest is being made gets the same one: a double tap makes one guest, not two.
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
    private let underWay: Locked<Task<Result<Guest, NetworkError>, Never>?>

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
        self.underWay = Locked(nil)
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
    /// - Returns: The guest, once the session has been stored.
    /// - Throws: ``NetworkError``. A caller that is cancelled gets ``NetworkError/cancelled(_:)``, while the registration
    ///   goes on for whoever else waits for it.
    @discardableResult
    public func register(name: String, picture: Picture? = nil) async throws(NetworkError) -> Guest {
        var form = MultipartForm()
        form.append(name, named: nameField)
        switch picture {
        case .data(let bytes, let filename, let contentType):
            form.append(bytes, named: pictureField, filename: filename, contentType: contentType)
        case .file(let path):
            form.append(fileAt: path, named: pictureField)
        case nil:
            break
        }
        guard !Task.isCancelled else { throw .cancelled(FailedCall(method: "POST", url: path, attempts: 0)) }
        let registration = GuestRegistration(path: path, body: .multipart(form))
        let task = underWay.withLock { underWay in
            if let task = underWay { return task }
            let task = Task { [client, self] () -> Result<Guest, NetworkError> in
                defer { self.underWay.withLock { $0 = nil } }
                do throws(NetworkError) {
                    let answer: GuestAnswer = try await client.signIn(registration) { answer in
                        SessionAccount(userID: answer.guest.id, isGuest: true)
                    }
                    return .success(answer.guest)
                } catch {
                    return .failure(error)
                }
            }
            underWay = task
            return task
        }
        let limits = TimeLimits(time: client.pipeline.time)
        switch await limits.run(within: nil, { await task.value }) {
        case .success(let result): return try result.get()
        case .failure: throw .cancelled(FailedCall(method: "POST", url: path, attempts: 1))
        }
    }
}

/// A guest as the server knows it.
public struct Guest: Decodable, Sendable, Hashable {
    /// The guest's id, as text whatever the server writes.
    public let id: String
    /// The guest's name.
    public let name: String?
    /// Where the guest's picture is.
    public let profileURL: String?
    /// The picture's key at the server.
    public let profileImageKey: String?

    private enum CodingKeys: String, CodingKey {
        case id, name, profileImageKey
        case profileURL = "profileUrl"
    }

    /// Decodes `{ id, name, profileUrl, profileImageKey }`; the id may be a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let number = try? container.decode(Int64.self, forKey: .id) {
            id = String(number)
        } else {
            id = try container.decode(String.self, forKey: .id)
        }
        name = try container.decodeIfPresent(String.self, forKey: .name)
        profileURL = try container.decodeIfPresent(String.self, forKey: .profileURL)
        profileImageKey = try container.decodeIfPresent(String.self, forKey: .profileImageKey)
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
