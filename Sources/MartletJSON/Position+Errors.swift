/// A number, string or key that no value can represent, such as 1e400. `decode` reports it as a document that is not
/// valid.
struct UnrepresentableValue: Error {}

extension Position {
    /// The error to throw instead of a scalar.
    @inline(never)
    func failure(_ type: Any.Type, at value: UInt32, _ step: Step) -> any Error {
        let byte = document.firstByte(value)
        let isExpected: Bool
        switch type {
        case is Bool.Type: return mismatch(type, at: value, step)
        case is String.Type: isExpected = byte == Byte.quote
        default: isExpected = byte == Byte.minus || Byte.digit(byte) < 10
        }
        if byte == Byte.n { return missing(type, step) }
        return isExpected ? UnrepresentableValue() : mismatch(type, at: value, step)
    }

    /// The error for `null` in place of a value.
    func missing(_ type: Any.Type, _ step: Step) -> DecodingError {
        let text = "Cannot get value of type \(type) -- found null value instead"
        return .valueNotFound(type, DecodingError.Context(codingPath: path(step), debugDescription: text))
    }

    func mismatch(_ type: Any.Type, at value: UInt32, _ step: Step) -> DecodingError {
        let text = "Expected to decode \(type) but found \(description(of: value)) instead."
        return .typeMismatch(type, DecodingError.Context(codingPath: path(step), debugDescription: text))
    }

    func corrupted(_ text: String, _ step: Step) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(step), debugDescription: text))
    }

    func notAContainer(_ type: Any.Type, _ name: String) -> DecodingError {
        guard document.isNull(value) else { return mismatch(type, at: value, .none) }
        let text = "Cannot get \(name) decoding container -- found null value instead"
        return .valueNotFound(type, DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }

    @inline(never)
    func keyNotFound(_ key: some CodingKey) -> DecodingError {
        let text = "No value associated with key \(key) (\"\(key.stringValue)\")."
        return .keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }

    private func description(of value: UInt32) -> String {
        switch document.firstByte(value) {
        case Byte.quote: "a string"
        case Byte.openBrace: "a dictionary"
        case Byte.openBracket: "an array"
        case Byte.t, Byte.f: "bool"
        case Byte.n: "null"
        default: "number"
        }
    }
}
