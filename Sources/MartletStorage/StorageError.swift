/// The reason why an operation on a store failed.
public struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Kind: Sendable, Hashable {
        /// The storage is locked: the device has not been unlocked yet, or the keyring is closed.
        case locked
        /// The storage cannot be used: no service, no folder, no permission, a full disk, no response in time.
        case unreachable
        /// The record is damaged. A sign-in replaces it.
        case corrupt
        /// The record was written by a newer version. Only a sign-in or a sign-out removes it.
        case tooNew
        /// Other users of the machine could read or replace the record, so it is not trusted.
        case unsafePermissions
        /// The content in the record's place was not written by Martlet. Martlet never replaces or deletes it.
        case foreign

        /// Whether waiting can make the record readable.
        package var isTransient: Bool {
            switch self {
            case .locked, .unreachable: true
            case .corrupt, .tooNew, .unsafePermissions, .foreign: false
            }
        }
    }

    /// The kind of failure.
    public var kind: Kind
    /// One sentence for a log, with what to do next after a semicolon. Must not contain a token.
    public var description: String
    /// Whether the process or the system had too many files open, or too little memory. The next attempt may succeed.
    package var isOutOfResources = false

    /// The description with a period. For a transient error, adds advice unless the description contains some, after a
    /// semicolon or in a sentence of its own.
    package var advice: String {
        let sentence = description.hasSuffix(".") ? description : description + "."
        let hasAdvice = sentence.contains("; ") || sentence.contains(". ")
        return kind.isTransient && !hasAdvice ? sentence + " Try again later." : sentence
    }

    /// A failed operation on a store.
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - description: One sentence for a log, with what to do next after a semicolon. Must not contain a token.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Compares the kind and the description.
    public static func == (one: StorageError, other: StorageError) -> Bool {
        one.kind == other.kind && one.description == other.description
    }

    /// Hashes the kind and the description.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(description)
    }
}
