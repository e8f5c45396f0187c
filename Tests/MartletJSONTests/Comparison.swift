import Foundation
import MartletJSON
import Testing

/// The text of a value, or the kind, type and path of an error.
func outcome(_ decode: () throws -> some Any) -> String {
    do {
        return "\(try decode())"
    } catch let error as DecodingError {
        let (kind, context) =
            switch error {
            case .typeMismatch(let type, let context): ("typeMismatch \(type)", context)
            case .valueNotFound(let type, let context): ("valueNotFound \(type)", context)
            case .keyNotFound(let key, let context): ("keyNotFound \(key.stringValue)", context)
            case .dataCorrupted(let context): ("dataCorrupted", context)
            @unknown default: ("unknown", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        return "\(kind) at \(context.codingPath.map { "\($0.stringValue) \($0.intValue.map(String.init) ?? "-")" })"
    } catch {
        return "another error"
    }
}

/// Expects the same value or error from both decoders, and returns it.
@discardableResult
func expectSame<Value: Decodable>(
    _ type: Value.Type, _ json: String, configure: (inout Strategies) -> Void = { _ in },
    at location: SourceLocation = #_sourceLocation
) -> String {
    var strategies = Strategies()
    configure(&strategies)
    let data = Data(json.utf8)
    let martlet = outcome { try strategies.martlet.decode(type, from: data) }
    let foundation = outcome { try strategies.foundation.decode(type, from: data) }
    #expect(martlet == foundation, "\(json)", sourceLocation: location)
    return martlet
}

/// Two decoders with the same strategies.
struct Strategies {
    var martlet = MartletJSONDecoder()
    let foundation = JSONDecoder()

    mutating func convertSnakeCase() {
        martlet.keyDecodingStrategy = .convertFromSnakeCase
        foundation.keyDecodingStrategy = .convertFromSnakeCase
    }
}

func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try MartletJSONDecoder().decode(type, from: Data(json.utf8))
}

/// Reads any document, whatever it contains.
struct Anything: Decodable {
    init(from decoder: any Decoder) throws {}
}
