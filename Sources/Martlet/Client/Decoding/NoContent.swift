/// A response whose body does not matter. It decodes from any body, and from none.
public struct NoContent: Decodable, Sendable, Hashable, EmptyBodyRepresentable {
    /// Creates the value.
    public init() {}

    /// Decodes from any body.
    public init(from decoder: any Decoder) throws {}

    static var empty: NoContent { NoContent() }
}

/// A response type with a value for a response without a body.
protocol EmptyBodyRepresentable {
    static var empty: Self { get }
}

extension Optional: EmptyBodyRepresentable {
    static var empty: Wrapped? { nil }
}
