internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The app's registration at an OAuth 2.0 server (RFC 6749, section 2).
///
/// ```swift
/// OAuthClient(id: "example-app")                       // a public client, such as an app on a phone
/// OAuthClient(id: "example-service", secret: secret)   // a confidential client, such as a server
/// ```
public struct OAuthClient: Sendable, Hashable {
    package let id: String
    package let secret: Secret?
    private let sendsSecretInBody: Bool

    /// A client registration.
    /// - Parameters:
    ///   - id: The client identifier.
    ///   - secret: The client secret. Leave it `nil` for a public client, which cannot keep a secret: its requests
    ///     carry the identifier in the body.
    ///   - sendsSecretInBody: Whether identifier and secret go into the body, for servers that do not support the
    ///     `Authorization` field (RFC 6749, section 2.3.1).
    public init(id: String, secret: Secret? = nil, sendsSecretInBody: Bool = false) {
        self.id = id
        self.secret = secret
        self.sendsSecretInBody = sendsSecretInBody
    }

    /// Adds the client's authentication to a request to the token endpoint.
    package func authenticate(_ headers: inout HTTPFields, _ parameters: inout Query) {
        if let secret, !sendsSecretInBody {
            // RFC 6749, section 2.3.1: identifier and secret are form-encoded before they are joined.
            let pair = FormEncoding.encode(id) + ":" + FormEncoding.encode(secret.reveal())
            headers.setSensitive("Basic " + Data(pair.utf8).base64EncodedString(), for: .authorization)
        } else {
            parameters.append("client_id", id)
            if let secret { parameters.append("client_secret", secret.reveal()) }
        }
    }
}
