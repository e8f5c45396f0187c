#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads a record that another library stored as JSON.
func readJSON<Record: Decodable>(_ type: Record.Type, from data: Data) throws(RecordProblem) -> Record {
    guard data.count <= largestRecord else { throw RecordProblem(.tooLarge, "the data is larger than 1 MB") }
    guard let first = data.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }), first == UInt8(ascii: "{") else {
        throw .foreign("the data is not a JSON object")
    }
    do {
        return try JSONDecoder().decode(type, from: data)
    } catch let problem as RecordProblem {
        throw problem
    } catch DecodingError.keyNotFound {
        throw .foreign("the JSON lacks a field that this library always writes")
    } catch DecodingError.typeMismatch {
        throw .foreign("a field of the JSON has another type than this library writes")
    } catch DecodingError.valueNotFound {
        throw .foreign("a field of the JSON is null that this library always fills")
    } catch {
        // Drop the decoder's error: its text may quote the record.
        throw .damaged("the JSON is damaged or cut off")
    }
}

/// The name of a field, in whichever case the version of the library writes it.
struct FieldName: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral name: String) {
        stringValue = name
    }

    init?(stringValue name: String) {
        stringValue = name
    }

    init?(intValue: Int) {
        return nil
    }
}

extension KeyedDecodingContainer where Key == FieldName {
    /// The first of several names that has a value.
    func first<Value: Decodable>(_ type: Value.Type, _ names: FieldName...) throws -> Value? {
        for name in names {
            if let value = try decodeIfPresent(type, forKey: name) { return value }
        }
        return nil
    }

    /// The value of the first name, or of the second.
    func required<Value: Decodable>(_ type: Value.Type, _ name: FieldName, _ other: FieldName) throws -> Value {
        try decodeIfPresent(type, forKey: name) ?? decode(type, forKey: other)
    }
}
