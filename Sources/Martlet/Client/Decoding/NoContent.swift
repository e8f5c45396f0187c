/// A response whose body does not matter. It decodes from any body, and from none.
///
/// If the client has a ``NetworkConfig/envelope``, the body must not report a failure, and it must be neither a page,
/// such as that of a network's login, nor half of a JSON object or array.
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
