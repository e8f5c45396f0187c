public import Logging

/// Everything a ``ReferenceBackend`` is started with.
public struct BackendConfiguration: Sendable {
    /// How the backend speaks about sessions.
    public var dialect: Dialect
    /// The address to bind.
    public var host = "127.0.0.1"
    /// The port to bind; 0 takes a free one.
    public var port = 0
    /// Where users, sessions and articles are kept.
    public var database = DatabaseLocation.inMemory
    /// How long an access token is accepted.
    public var accessTokenLifetime = Duration.seconds(15 * 60)
    /// How long a refresh token is accepted.
    public var refreshTokenLifetime = Duration.seconds(14 * 24 * 60 * 60)
    /// How long a spent refresh token still answers the pair that it was exchanged for; zero treats every reuse as theft.
    public var rotationGrace = Duration.zero
    /// Whether ``BackendControls`` are served under `/_control/`. Refused unless `host` is a loopback address.
    public var hostileControls = false
    /// The largest body that `POST /uploads` takes.
    public var maxUploadBytes = 1 << 30
    /// The largest picture that a guest may register with.
    public var maxImageBytes = 5 << 20
    /// Whether the backend speaks TLS.
    public var tls = TLSMode.none
    /// What a password costs to hash.
    public var passwordHashing = PasswordHashing.standard
    /// The client that the OAuth 2.0 token endpoint knows; nil takes any.
    public var oauthClient: OAuthClient?
    /// The field that carries the access token.
    public var accessTokenHeader = AccessTokenHeader.authorizationBearer
    /// How long ``ReferenceBackend/stop()`` waits for requests in progress before it closes their connections.
    public var shutdownGrace = Duration.seconds(2)
    /// Called at each stage of each request, before the next one; the request waits for it, so it must be quick.
    public var onRequest: (@Sendable (RequestMoment) -> Void)?
    /// Where the backend logs to. It logs no token, password or cookie.
    public var logger: Logger

    /// A configuration on a free loopback port with an in-memory database.
    public init(
        dialect: Dialect = .envelope,
        logger: Logger = Logger(label: "martlet.reference-backend") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.dialect = dialect
        self.logger = logger
    }

    /// A configuration for tests: controls on, cheap passwords.
    public static func testing(_ dialect: Dialect = .envelope) -> BackendConfiguration {
        var configuration = BackendConfiguration(dialect: dialect)
        configuration.hostileControls = true
        configuration.passwordHashing = .cheapForTests
        return configuration
    }
}

/// Where a backend keeps its data.
public enum DatabaseLocation: Sendable, Hashable {
    /// In memory, gone when the backend stops.
    case inMemory
    /// In a SQLite file, which a later backend can open again, sessions and signing key included.
    case file(String)
}

/// Whether and how a backend speaks TLS.
public enum TLSMode: Sendable, Hashable {
    /// Plain HTTP/1.1.
    case none
    /// HTTP/1.1 and HTTP/2, chosen by ALPN, with a certificate made at the start.
    case selfSigned
}

/// The client that an OAuth 2.0 token endpoint knows.
public struct OAuthClient: Sendable, Hashable {
    /// The client identifier.
    public var id: String
    /// The client secret.
    public var secret: String
    /// Whether requests without client authentication are refused; a wrong secret always is.
    public var isRequired: Bool

    /// A client.
    public init(id: String, secret: String, isRequired: Bool) {
        self.id = id
        self.secret = secret
        self.isRequired = isRequired
    }
}

/// The request field that carries the access token.
public struct AccessTokenHeader: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// The scheme before the token; nil where the field holds the token alone.
    public var scheme: String?

    /// A field.
    public init(name: String, scheme: String?) {
        self.name = name
        self.scheme = scheme
    }

    /// `Authorization: Bearer <token>`.
    public static let authorizationBearer = AccessTokenHeader(name: "Authorization", scheme: "Bearer")
}
