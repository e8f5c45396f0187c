#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A fast decoder for JSON in UTF-8, with the strategies and errors of Foundation's `JSONDecoder`.
///
/// ```swift
/// import Foundation
/// import MartletJSON
///
/// struct User: Decodable {
///     let name: String
///     let joined: Date
/// }
///
/// func user(from body: Data) throws -> User {
///     var decoder = MartletJSONDecoder()
///     decoder.dateDecodingStrategy = .iso8601
///     return try decoder.decode(User.self, from: body)
/// }
/// ```
///
/// The whole document must follow RFC 8259, including the members that no type asks for. <doc:FastJSON> lists what else
/// differs from Foundation's decoder.
public struct MartletJSONDecoder: Sendable {
    /// The format of dates. The default is a number of seconds since 2001, as `Date` encodes itself.
    ///
    /// A decoder without a date strategy of its own reads responses with
    /// ``DateDecodingStrategy/iso8601OptionalFraction`` when it is the `decoder` of Martlet's `NetworkConfig`, as the
    /// default decoder does.
    public var dateDecodingStrategy: DateDecodingStrategy {
        get { strategies.date }
        set {
            strategies.date = newValue
            hasDateStrategy = true
        }
    }

    /// Whether ``dateDecodingStrategy`` has been set. If not, `NetworkClient` reads dates as servers write them.
    package private(set) var hasDateStrategy = false

    /// The format of binary data. The default is Base64.
    public var dataDecodingStrategy: DataDecodingStrategy {
        get { strategies.data }
        set { strategies.data = newValue }
    }

    /// The conversion of the document's names to keys. By default, names stay as they are.
    public var keyDecodingStrategy: KeyDecodingStrategy {
        get { strategies.key }
        set { strategies.key = newValue }
    }

    /// The form of infinity and NaN, for which JSON has no numbers. By default, they are errors.
    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
        get { strategies.nonConformingFloat }
        set { strategies.nonConformingFloat = newValue }
    }

    /// Values for the decoded types, available in `Decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    private var strategies = Strategies()

    /// Creates a decoder with the default strategies.
    public init() {}

    /// Decodes a document.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with an empty coding path if the document is not valid, and otherwise
    ///   the errors that `JSONDecoder` throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try data.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// Decodes a document from bytes that need to stay in place only until the call returns.
    ///
    /// - Throws: The same errors as for `Data`.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
        do {
            return try bytes.withMemoryRebound(to: UInt8.self) { try decodeBytes(type, $0) }
        } catch let error as MalformedDocument {
            throw invalidDocument(" It breaks RFC 8259 at byte \(error.offset).")
        } catch is UnrepresentableValue {
            throw invalidDocument(" A number or string in it has no value in Swift.")
        }
    }

    private func decodeBytes<Value: Decodable>(_ type: Value.Type, _ bytes: UnsafeBufferPointer<UInt8>) throws -> Value
    {
        guard let start = bytes.baseAddress, bytes.count < Tape.maxDocumentSize else {
            throw MalformedDocument(offset: min(bytes.count, Tape.maxDocumentSize))
        }
        var document = try Document(start, bytes.count, strategies, userInfo: userInfo)
        defer {
            document.spare = nil
            // A decoder or container has been kept, and may be used after this call.
            if !isKnownUniquelyReferenced(&document) { document.keepBytes() }
        }
        return try Position(document, value: 0).decode(type, 0, .none)
    }

    private func invalidDocument(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "The given data was not valid JSON.\(reason)"))
    }
}

extension MartletJSONDecoder {
    /// The format of dates.
    public enum DateDecodingStrategy: Sendable {
        /// As `Date` decodes itself: the seconds since the start of 2001, UTC.
        case deferredToDate
        /// A number of seconds since the start of 1970, UTC.
        case secondsSince1970
        /// A number of milliseconds since the start of 1970, UTC.
        case millisecondsSince1970
        /// A string in the form of RFC 3339, such as `2026-01-31T23:59:59Z`.
        case iso8601
        /// A string in the form of RFC 3339 with or without a fraction of a second, such as `2026-01-31T23:59:59.123Z`.
        case iso8601OptionalFraction
        /// As a closure reads them.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// The format of binary data.
    public enum DataDecodingStrategy: Sendable {
        /// As `Data` decodes itself: an array of numbers.
        case deferredToData
        /// A string in Base64.
        case base64
        /// As a closure reads them.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }

    /// The conversion of a document's names to keys. The keys of a `[String: Value]` stay as they are.
    public enum KeyDecodingStrategy: Sendable {
        /// They stay as they are.
        case useDefaultKeys
        /// From `snake_case` to `camelCase`. Underscores at the start and at the end stay.
        case convertFromSnakeCase
        /// As a closure converts them. The closure gets the coding path, which ends with the key to convert.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }

    /// The form of infinity and NaN.
    public enum NonConformingFloatDecodingStrategy: Sendable {
        /// They are errors.
        case `throw`
        /// As these strings.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }
}
