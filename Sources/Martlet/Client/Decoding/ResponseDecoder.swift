#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Decodes the bodies of responses, for ``NetworkConfig/decoder``.
///
/// ``FoundationJSONDecoder`` is the default. Implement the protocol for another format or another decoder:
///
/// ```swift
/// struct PropertyLists: ResponseDecoder {
///     func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
///         try PropertyListDecoder().decode(type, from: body)
///     }
/// }
/// ```
public protocol ResponseDecoder: Sendable {
    /// Decodes a value from the body of a response. It may be called for several responses at the same time.
    /// - Throws: A `DecodingError`, whose coding path becomes part of ``ResponseDecodingError``, or any other error.
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value
}

/// Decodes JSON with Foundation's `JSONDecoder`.
///
/// Dates are read in ISO 8601, with and without fractions of a second, unless you choose another strategy:
///
/// ```swift
/// config.decoder = FoundationJSONDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase }
/// ```
public struct FoundationJSONDecoder: ResponseDecoder {
    // A reference, but no code outside can reach it, so its settings never change.
    private let decoder = JSONDecoder.martlet

    /// A decoder with the settings that a closure makes.
    /// - Parameter configure: Changes the settings of a new `JSONDecoder`. Do not keep it.
    public init(_ configure: (JSONDecoder) -> Void = { _ in }) {
        configure(decoder)
    }

    /// Decodes a value from JSON.
    public func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        try decoder.decode(type, from: body)
    }
}
