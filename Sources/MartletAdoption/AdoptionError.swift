/// A record of another library that cannot be read. The record is unchanged, and no session has begun.
public struct AdoptionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The record, such as "the credentials of Auth0.swift".
    public let record: String
    /// The reason. It contains nothing of the record's content.
    public let reason: String

    init(_ record: String, reason: String) {
        self.record = record
        self.reason = reason
    }

    /// A text that says what cannot be read, and what to do next.
    public var description: String {
        "\(record) cannot be taken over: \(reason). Let the user sign in again, or pass a closure that reads it."
    }
}
