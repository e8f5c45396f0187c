/// An OpenID provider at the backend, for sign-ins with a browser.
///
/// It approves each authorization request at once, without a page, for one user, and accepts any redirect URI. Use it
/// only in tests. The tokens belong to a session of the backend: they work at its API, and can be refreshed and
/// revoked.
public struct OpenIDProvider: Sendable {
    /// The client that may sign users in. ``BackendConfiguration/oauthClient`` contains its secret, if it has one.
    public var clientID = "app"
    /// The module of the OpenID Foundation's test plans that the provider acts out; `nil` if it follows the
    /// specification.
    public var module: OpenIDModule?

    /// Creates a provider.
    public init(module: OpenIDModule? = nil) {
        self.module = module
    }
}
