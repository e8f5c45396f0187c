/// The reason why the settings of a transport cannot be used. It is thrown before anything is sent, and contains no
/// secret.
@nonexhaustive public enum TransportSettingsError: Error, Sendable, Hashable {
    /// A certificate cannot be read, or a list of certificates is empty.
    case invalidCertificate(String)
    /// The client's certificate or private key cannot be read, or its passphrase is wrong.
    case invalidIdentity(String)
    /// A pin cannot be read, or a host is pinned in a way that would lock the app out.
    case invalidPins(String)
    /// The address of a proxy is not valid.
    case invalidProxy(String)
    /// The transport does not support the setting on this platform.
    case unsupported(String)
}

extension TransportSettingsError: CustomStringConvertible {
    /// A message that says what is wrong, and what to do instead.
    public var description: String {
        switch self {
        case .invalidCertificate(let reason), .invalidIdentity(let reason), .invalidPins(let reason),
            .invalidProxy(let reason), .unsupported(let reason):
            reason
        }
    }
}
