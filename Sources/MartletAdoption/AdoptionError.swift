/// The reason why the record of another library cannot be adopted.
///
/// The description never contains any part of the record.
public struct AdoptionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    @nonexhaustive public enum Kind: Sendable, Hashable {
        /// The record is damaged: it was cut off, changed or never complete.
        case damaged
        /// The data is a record of something else.
        case foreign
        /// The data is larger than any record of this library.
        case tooLarge
        /// The library had ended this session itself. The user has to sign in.
        case ended
        /// The record contains no access token, for example because its user is a guest.
        case withoutTokens
        /// The tokens can be used only with a key that the library keeps to itself (DPoP, RFC 9449).
        case boundToKey
    }

    /// The kind of failure.
    public let kind: Kind
    /// The library that wrote the record.
    public let library: String
    private let detail: String

    init(_ problem: RecordProblem, library: String) {
        kind = problem.kind
        self.library = library
        detail = problem.detail.description
    }

    /// One or two sentences for a log, without any part of the record.
    public var description: String {
        "could not take over the session of \(library): \(detail). \(advice)"
    }

    private var advice: String {
        switch kind {
        case .damaged, .ended: "Let the user sign in again."
        case .foreign, .tooLarge: "Check where the record is looked for and which library wrote it."
        case .withoutTokens: "There is no session to take over: let the user sign in, or begin a guest session."
        case .boundToKey: "Sign out with that library, and let the user sign in again."
        }
    }
}

/// A failure inside a reader. Its text is static, so that it cannot contain any part of a record.
struct RecordProblem: Error {
    let kind: AdoptionError.Kind
    let detail: StaticString

    init(_ kind: AdoptionError.Kind, _ detail: StaticString) {
        self.kind = kind
        self.detail = detail
    }

    static func damaged(_ detail: StaticString) -> RecordProblem { RecordProblem(.damaged, detail) }
    static func foreign(_ detail: StaticString) -> RecordProblem { RecordProblem(.foreign, detail) }
}
