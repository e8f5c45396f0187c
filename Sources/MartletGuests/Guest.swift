/// A guest account, as the server describes it.
public struct Guest: Sendable, Hashable {
    /// The guest's id. A number is converted to text.
    public let id: String
    /// The guest's name.
    public let name: String?
    /// The URL of the guest's picture.
    public let profileURL: String?
    /// The server's key for the picture.
    public let profileImageKey: String?

    /// Creates a guest; meant for previews and tests.
    /// - Parameters:
    ///   - id: The guest's id.
    ///   - name: The guest's name.
    ///   - profileURL: The URL of the guest's picture.
    ///   - profileImageKey: The server's key for the picture.
    public init(id: String, name: String? = nil, profileURL: String? = nil, profileImageKey: String? = nil) {
        self.id = id
        self.name = name
        self.profileURL = profileURL
        self.profileImageKey = profileImageKey
    }
}
