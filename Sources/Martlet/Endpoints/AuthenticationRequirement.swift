/// Whether a call carries an access token.
public enum AuthenticationRequirement: Sendable, Hashable {
    /// No token, even if a user is signed in: for sign-in itself and for public data.
    case none
    /// A token if a user is signed in, and none otherwise.
    case ifSignedIn
    /// A token. If no user is signed in and ``NetworkConfig/automaticSignIn`` is `nil`, the call fails with
    /// ``NetworkError/signInRequired(_:)`` before anything is sent. Over plain `http`, it fails with
    /// ``NetworkError/insecureURL(_:url:)`` unless the ``TokenManager`` allows that. A request to an origin that is
    /// neither the API's nor a trusted one gets no token.
    case required
}
