internal import Martlet

/// The names that a server uses for a guest: the form fields of the registration, and the fields of its response.
///
/// ``standard`` sends `name` and `image`, and reads `{ "user": { "id", "name", "profileUrl", "profileImageKey" } }`.
///
/// ```swift
/// let guests = GuestAuthService(
///     client, fields: GuestFields(formPicture: "profileImage", id: ["guest_id"], name: ["nickname"]))
/// ```
public struct GuestFields: Sendable, Hashable {
    /// The form field that carries the name.
    public var formName: String
    /// The form field that carries the picture.
    public var formPicture: String
    /// Names of the objects that may contain the guest in the response, outermost first. Each object is searched for in
    /// the last one that was found. If the response has none of them, the response itself is the guest. A member with
    /// one of these names that is not an object is skipped.
    public var containers: [String]
    /// Names of the id, which is a string or a number.
    public var id: [String]
    /// Names of the guest's name.
    public var name: [String]
    /// Names of the picture's URL.
    public var profileURL: [String]
    /// Names of the picture's key at the server.
    public var profileImageKey: [String]

    /// Names for each field; a field that is left out has its standard names.
    public init(
        formName: String = "name", formPicture: String = "image",
        containers: [String] = ["result", "data", "user", "guest"], id: [String] = ["id"], name: [String] = ["name"],
        profileURL: [String] = ["profileUrl", "profileURL", "profile_url"],
        profileImageKey: [String] = ["profileImageKey", "profile_image_key"]
    ) {
        self.formName = formName
        self.formPicture = formPicture
        self.containers = containers
        self.id = id
        self.name = name
        self.profileURL = profileURL
        self.profileImageKey = profileImageKey
    }

    /// The standard names.
    public static let standard = GuestFields()

    /// The guest in a response.
    /// - Returns: `nil` if the innermost container, or the response if it has no container, has no id.
    func guest(in response: JSONValue) -> Guest? {
        let object = containers.reduce(response) { object, name in
            guard let inner = object[name], case .object = inner else { return object }
            return inner
        }
        guard let id = first(id, in: object)?.text, !id.isEmpty else { return nil }
        return Guest(
            id: id, name: first(name, in: object)?.string, profileURL: first(profileURL, in: object)?.string,
            profileImageKey: first(profileImageKey, in: object)?.string)
    }

    private func first(_ names: [String], in object: JSONValue) -> JSONValue? {
        names.lazy.compactMap { object[$0] }.first { $0 != .null }
    }
}
