/// Why a download did not become a file.
public enum DownloadFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file could not be written.
    case file(FileProblem)
    /// The bytes are not those that were asked for: both digests, in hexadecimal.
    case digestMismatch(expected: String, actual: String)
    /// The server answered that it has nothing to send (204).
    case noContent
    /// The server was to say the digest of its file (`Repr-Digest`, RFC 9530), and did not.
    case digestMissing

    /// What went wrong, and what to do.
    public var description: String {
        switch self {
        case .file(let problem): problem.description
        case .digestMismatch(let expected, let actual):
            "Its digest is \(actual), not \(expected): it was damaged on the way, or is another file. Nothing was kept."
        case .noContent: "The server has nothing to send (204). What was there before was left alone."
        case .digestMissing:
            "The server gave no digest to check it against. Give one, or allow files without. Nothing was kept."
        }
    }
}
