internal import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The reason why a background transfer failed, or why ``BackgroundTransfers`` cannot be created.
@nonexhaustive public enum BackgroundTransferError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The process already has ``BackgroundTransfers`` with this identifier.
    case identifierInUse(String)
    /// The server responded with a status that the endpoint does not accept.
    case unacceptableStatus(Int)
    /// The system gave up after it had retried for as long as it may.
    case connection(String)
    /// The transfer was interrupted, and the server may have received it. Martlet repeats only idempotent methods (RFC
    /// 9110, section 9.2.2), and no request whose URL looks as if it contained a secret, because such a URL is not
    /// stored. This includes a path with 20 or more letters and digits in a row, but not a UUID with its hyphens.
    case interrupted
    /// The file to upload is missing, or the downloaded file could not be put at its path.
    case file(String)
    /// The user has signed out, or another user has signed in.
    case sessionEnded

    /// A message that says what failed, and what to do next.
    public var description: String {
        switch self {
        case .identifierInUse(let identifier):
            "This process already has BackgroundTransfers with the identifier \"\(identifier)\". Create them once, when "
                + "the app is launched, and keep them."
        case .unacceptableStatus(let status):
            "The server answered with status \(status). The response may say why."
        case .connection(let reason): "The system ended the transfer: \(Redaction.redactReason(reason))"
        case .interrupted:
            "The transfer was interrupted, and the server may have received it. Ask the server before you repeat it."
        case .file(let reason): Redaction.redactReason(reason)
        case .sessionEnded: "The session of the transfer has ended, so the transfer and its result were deleted."
        }
    }
}

extension BackgroundTransferError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? {
        switch self {
        case .identifierInUse: UserText.appFault.text
        case .unacceptableStatus(let status): UserText.status(status).text
        case .connection, .interrupted: UserText.connectionLost.text
        case .file: UserText.notSaved.text
        case .sessionEnded: UserText.sessionChanged.text
        }
    }
}
