#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Decodes the bodies of responses, for ``NetworkConfig/decoder``.
///
/// Foundation's `JSONDecoder` conforms. Implement the protocol for another format or another decoder:
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

/// Foundation's decoder, as ``NetworkConfig/decoder``. Do not change its settings after the client is created.
extension JSONDecoder: ResponseDecoder {}
