#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An envelope and its value, decoded in one pass.
struct Enveloped<Value: Decodable>: Decodable {
    /// The key of the envelope in the decoder's `userInfo`.
    static var key: CodingUserInfoKey? { CodingUserInfoKey(rawValue: "martlet.envelope") }

    let isSuccess: Bool?
    let value: Value?

    /// A field name of the envelope.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let envelope = Self.key.flatMap { decoder.userInfo[$0] as? ResponseEnvelope } ?? .standard
        let container = try decoder.container(keyedBy: Name.self)
        isSuccess = try container.decodeIfPresent(Bool.self, forKey: Name(stringValue: envelope.success))
        let data = Name(stringValue: envelope.data)
        if isSuccess == false {
            value = nil
            return
        }
        let hasData = try container.contains(data) && !container.decodeNil(forKey: data)
        if !hasData, let empty = (Value.self as? any EmptyBodyRepresentable.Type)?.empty as? Value {
            value = empty
        } else {
            value = try container.decode(Value.self, forKey: data)
        }
    }
}
