/// A response whose body does not matter. It decodes from any body, and from none.
public struct NoContent: Decodable, Sendable, Hashable, EmptyBodyRepresentable {
    /// Creates the value.
    public init() {}

    /// Decodes from any body.
    public init(from decoder: any Decoder) throws {}

    package static var empty: NoContent { NoContent() }
}

/// A response type with a value for a response without a body.
package protocol EmptyBodyRepresentable {
    static var empty: Self { get }
}

extension Optional: EmptyBodyRepresentable {
    package static var empty: Wrapped? { nil }
}
