#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An envelope and its value, decoded in one pass.
struct Enveloped<Value: Decodable>: Decodable {
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
        let envelope = ResponseEnvelope.decoding
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
