/// An access token and the session and rotation that it belongs to.
struct Credential: Sendable, Hashable {
    let stamp: SessionStamp
    let accessToken: Secret
    /// Whether the manager needs to know that the server has accepted the token, because its lifetime is unknown.
    var isUnproven = false
    /// The caller that probes the token, which the server has rejected at another endpoint; `nil` if it is not rejected.
    var probe: Int?
}
