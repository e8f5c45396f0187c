public import Logging

/// The configuration of a ``ReferenceBackend``.
public struct BackendConfiguration: Sendable {
    /// The session protocol of the backend.
    public var dialect: Dialect
    /// The address to bind.
    public var host = "127.0.0.1"
    /// The port to bind; 0 selects a free one.
    public var port = 0
    /// The place where users, sessions and articles are stored.
    public var database = DatabaseLocation.inMemory
    /// The lifetime of an access token.
    public var accessTokenLifetime = Duration.seconds(15 * 60)
    /// The lifetime of a refresh token.
    public var refreshTokenLifetime = Duration.seconds(14 * 24 * 60 * 60)
    /// The time for which a refresh with a used refresh token returns the same pair again. With zero, every reuse
    /// counts as theft.
    public var rotationGrace = Duration.zero
    /// Whether ``BackendControls`` are served under `/_control/`. Starting fails if this is set and `host` is not a
    /// loopback address.
    public var hostileControls = false
    /// The maximum body size of `POST /uploads`, in bytes.
    public var maxUploadBytes = 1 << 30
    /// The maximum size of a guest's picture, in bytes.
    public var maxImageBytes = 5 << 20
    /// Whether the backend uses TLS.
    public var tls = TLSMode.none
    /// The cost of hashing a password.
    public var passwordHashing = PasswordHashing.standard
    /// The client that the OAuth 2.0 token endpoint accepts; `nil` accepts any.
    public var oauthClient: OAuthClient?
    /// The OpenID provider at the backend; `nil` for none. It asks for no password, so starting fails if it is set and
    /// `host` is not a loopback address.
    public var openID: OpenIDProvider?
    /// The header field of the access token.
    public var accessTokenHeader = AccessTokenHeader.authorizationBearer
    /// The time that ``ReferenceBackend/stop()`` waits for requests in progress before it closes their connections.
    public var shutdownGrace = Duration.seconds(2)
    /// Called at each stage of each request. The request waits until it returns, so it must be fast.
    public var onRequest: (@Sendable (RequestMoment) -> Void)?
    /// The logger of the backend. Tokens, passwords and cookies are never logged.
    public var logger: Logger

    /// Creates a configuration with a free loopback port and an in-memory database.
    public init(
        dialect: Dialect = .envelope,
        logger: Logger = Logger(label: "martlet.reference-backend") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.dialect = dialect
        self.logger = logger
    }

    /// Creates a configuration for tests, with the controls enabled and cheap password hashing.
    public static func testing(_ dialect: Dialect = .envelope) -> BackendConfiguration {
        var configuration = BackendConfiguration(dialect: dialect)
        configuration.hostileControls = true
        configuration.passwordHashing = .cheapForTests
        return configuration
    }
}

/// The place where a backend stores its data.
public enum DatabaseLocation: Sendable, Hashable {
    /// In memory. The data is lost when the backend stops.
    case inMemory
    /// In a SQLite file, including the sessions and the signing key. A later backend can open it again.
    case file(String)
}

/// The TLS mode of a backend.
public enum TLSMode: Sendable, Hashable {
    /// Plain HTTP/1.1.
    case none
    /// HTTP/1.1 and HTTP/2, selected by ALPN, with a certificate that is created at the start.
    case selfSigned
}

/// The client that an OAuth 2.0 token endpoint accepts.
public struct OAuthClient: Sendable, Hashable {
    /// The client identifier.
    public var id: String
    /// The client secret.
    public var secret: String
    /// Whether requests without client authentication are rejected. A wrong secret is always rejected.
    public var isRequired: Bool

    /// Creates a client.
    public init(id: String, secret: String, isRequired: Bool) {
        self.id = id
        self.secret = secret
        self.isRequired = isRequired
    }
}

/// The header field that carries the access token.
public struct AccessTokenHeader: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// The scheme before the token; `nil` if the value is the token alone.
    public var scheme: String?

    /// Creates a field.
    public init(name: String, scheme: String?) {
        self.name = name
        self.scheme = scheme
    }

    /// `Authorization: Bearer <token>`.
    public static let authorizationBearer = AccessTokenHeader(name: "Authorization", scheme: "Bearer")
}
