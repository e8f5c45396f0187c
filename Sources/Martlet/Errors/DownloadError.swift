/// The reason why a download was not saved as a file.
@nonexhaustive public enum DownloadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file could not be written.
    case file(path: String, reason: String)
    /// The file's digest differs from the expected one. Both are in hexadecimal.
    case digestMismatch(expected: String, actual: String)
    /// The server returned no content (204 or 205).
    case noContent
    /// The server's digest is required (`Repr-Digest`, RFC 9530), and the response has none.
    case digestMissing

    /// A message that says what failed, and what to do next.
    public var description: String {
        switch self {
        case .file(_, let reason): Redaction.redactReason(reason)
        case .digestMismatch(let expected, let actual):
            // In full, they would look like tokens and be masked.
            "The digest of the file begins with \(actual.prefix(12)), expected \(expected.prefix(12)). The file is "
                + "damaged, or it is a different file. Nothing was saved. Try again."
        case .noContent: "The server returned no content. An existing file was not changed."
        case .digestMissing:
            "The response has no digest to verify the file. Nothing was saved. "
                + "Pass a digest, or accept files without one."
        }
    }
}

extension DownloadError {
    static func file(_ error: FileError) -> DownloadError {
        .file(path: error.path, reason: Redaction.redactReason(error.description))
    }
}
