internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Who the app is to an OAuth 2.0 server (RFC 6749, section 2.3).
public struct OAuthClient: Sendable, Hashable {
    /// How the client says who it is.
    public enum Authentication: Sendable, Hashable {
        /// In the `Authorization` field (RFC 6749, section 2.3.1).
        case basic(secret: Secret)
        /// In the body, for servers that do not understand the former.
        case body(secret: Secret)
        /// A public client, such as an app: its id in the body and no secret.
        case none
    }

    /// The client's id.
    public var id: String
    /// How the client says who it is.
    public var authentication: Authentication

    /// Who the app is to an OAuth 2.0 server.
    public init(id: String, authentication: Authentication = .none) {
        self.id = id
        self.authentication = authentication
    }

    func authenticate(_ headers: inout HTTPFields, _ parameters: inout Query) {
        switch authentication {
        case .basic(let secret):
            // Both are form-encoded before they are joined: RFC 6749, section 2.3.1.
            let pair = FormEncoding.encode(id) + ":" + FormEncoding.encode(secret.reveal())
            headers.setSensitive("Basic " + Data(pair.utf8).base64EncodedString(), for: .authorization)
        case .body(let secret):
            parameters.append("client_id", id)
            parameters.append("client_secret", secret.reveal())
        case .none:
            parameters.append("client_id", id)
        }
    }
}

/// How the parameters of an OAuth 2.0 request are written.
public enum OAuthEncoding: Sendable, Hashable {
    /// As a form, as RFC 6749 wants it.
    case form
    /// As JSON, as some servers do.
    case json

    func encode(_ parameters: Query, contentType: inout String?) throws -> Data {
        switch self {
        case .form:
            contentType = "application/x-www-form-urlencoded"
            return Data(FormEncoding.encode(parameters).utf8)
        case .json:
            contentType = "application/json"
            let pairs = parameters.items.map { ($0.name, $0.value ?? "") }
            return try JSONEncoder().encode(Dictionary(pairs, uniquingKeysWith: { $1 }))
        }
    }
}
