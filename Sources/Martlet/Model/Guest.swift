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

    /// A guest, for previews and for tests of what is shown of one.
    /// - Parameters:
    ///   - id: The guest's id.
    ///   - name: The guest's name.
    ///   - profileURL: Where the guest's picture is.
    ///   - profileImageKey: The picture's key at the server.
    public init(id: String, name: String? = nil, profileURL: String? = nil, profileImageKey: String? = nil) {
        self.id = id
        self.name = name
        self.profileURL = profileURL
        self.profileImageKey = profileImageKey
    }

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
