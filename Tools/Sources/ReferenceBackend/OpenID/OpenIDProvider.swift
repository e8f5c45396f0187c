/// An OpenID provider at the backend, for sign-ins with a browser.
///
/// It approves each authorization request at once and without a page, for one user, and accepts any redirect URI. So it is
/// for tests only. The tokens are those of a session of the backend: they work at its API, and can be refreshed and revoked.
public struct OpenIDProvider: Sendable {
    /// The client that may sign users in. ``BackendConfiguration/oauthClient`` has its secret, if it has one.
    public var clientID = "app"
    /// The module of the OpenID Foundation's plans that the provider plays; `nil` if it follows the specification.
    public var module: OpenIDModule?

    /// Creates a provider.
    public init(module: OpenIDModule? = nil) {
        self.module = module
    }
}
