#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Any JSON value, for responses of unknown structure.
package enum JSONValue: Decodable, Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    case null

    /// The largest depth of a value. Each level takes several stack frames, and pool threads have small stacks.
    static let maximumDepth = 64

    package init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "more than \(Self.maximumDepth) levels"))
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            // A Double cannot represent an id of more than 53 bits exactly.
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .string(String(value))
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else if container.decodeNil() {
            self = .null
        } else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath, debugDescription: "not a JSON value"))
        }
    }

    /// - Returns: `nil` if the body is not JSON, or if any value in it cannot be represented.
    init?(body: Data) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: body) else { return nil }
        self = value
    }

    /// Reads as much as possible of a body that may contain the only copy of tokens. A member that cannot be
    /// represented is left out: a string with half a surrogate pair, a number that is too large, a value that is too
    /// deep. Bytes that are not UTF-8 and control characters are replaced.
    /// - Returns: `nil` if the body is not JSON.
    init?(salvaging body: Data) {
        // Some servers send another encoding than UTF-8, or control characters in a string.
        let repaired = { String(decoding: body, as: UTF8.self).utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 } }
        let decoder = JSONDecoder()
        let found =
            (try? decoder.decode(Salvaged.self, from: body))
            ?? (try? decoder.decode(Salvaged.self, from: Data(repaired())))
        guard let value = found?.value else { return nil }
        self = value
    }

    /// A value without its members that cannot be represented; `nil` if it is one itself.
    private struct Salvaged: Decodable {
        let value: JSONValue?

        init(from decoder: any Decoder) throws {
            guard decoder.codingPath.count <= JSONValue.maximumDepth else {
                value = nil
                return
            }
            let container = try decoder.singleValueContainer()
            if let members = try? container.decode([String: Salvaged].self) {
                value = .object(members.compactMapValues(\.value))
            } else if let values = try? container.decode([Salvaged].self) {
                value = .array(values.map { $0.value ?? .null })
            } else {
                value = try? JSONValue(from: decoder)
            }
        }
    }

    /// The value as JSON text, with sorted keys.
    var encoded: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }

    package subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// A string, or an integer as text.
    package var text: String? {
        if case .integer(let value) = self { String(value) } else { string }
    }

    /// A number, even if it was written as a string.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let value): Double(value)
        default: nil
        }
    }

    var array: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let members): try container.encode(members)
        case .array(let values): try container.encode(values)
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}
