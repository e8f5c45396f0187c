/// An access token and the session and rotation that it belongs to.
///
/// A class, because each step of a call passes it on, and copying its strings would cost more than the step.
final class Credential: Sendable, Hashable {
    let stamp: SessionStamp
    let accessToken: Secret
    /// Whether the manager needs to know that the server has accepted the token, because its lifetime is unknown.
    let isUnproven: Bool
    /// The caller that probes the token after another endpoint rejected it; `nil` if it was not rejected.
    let prober: Int?

    init(stamp: SessionStamp, accessToken: Secret, isUnproven: Bool = false, prober: Int? = nil) {
        self.stamp = stamp
        self.accessToken = accessToken
        self.isUnproven = isUnproven
        self.prober = prober
    }

    static func == (one: Credential, other: Credential) -> Bool {
        one === other
            || (one.stamp, one.isUnproven, one.prober) == (other.stamp, other.isUnproven, other.prober)
                && one.accessToken == other.accessToken
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(stamp)
        hasher.combine(prober)
    }
}
