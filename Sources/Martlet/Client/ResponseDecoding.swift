internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// From the bytes of an answer to a value, or to an error that a person can act on.
struct ResponseDecoding {
    let decoder: JSONDecoder
    let envelope: ResponseEnvelope?

    /// The value of an answer whose status was accepted.
    func decode<Value: Decodable & Sendable>(
        _ type: Value.Type, from raw: NetworkResponse<RawAnswer>
    ) throws(NetworkError) -> Value {
        let (answer, call) = (raw.value.answer, raw.value.call)
        if answer.body.isEmpty {
            if let empty = (type as? any EmptyRepresentable.Type)?.empty as? Value { return empty }
            throw .decoding(
                call,
                DecodingFailure(type: "\(type)", codingPath: "", reason: "there is no body", answer: answer))
        }
        do {
            guard let envelope else {
                if type == Empty.self, let empty = Empty() as? Value { return empty }
                return try decoder.decode(type, from: answer.body)
            }
            if type == Empty.self, let empty = Empty() as? Value, !envelope.isRefusal(answer) { return empty }
            let enveloped = try decoder.knowing(envelope).decode(Enveloped<Value>.self, from: answer.body)
            // A decoder that changes names may have missed the field; where it stands by its own name, it counts.
            if let value = enveloped.value, enveloped.isSuccess == true || !envelope.isRefusal(answer) { return value }
            if let refusal = envelope.refusal(in: answer) { throw NetworkError.api(call, refusal) }
            throw NetworkError.unacceptableStatus(call, answer)
        } catch let error as NetworkError {
            throw error
        } catch {
            throw .decoding(call, DecodingFailure(error, type: "\(type)", answer: answer))
        }
    }

    /// What an answer whose status was not accepted means.
    func refusal(_ answer: ServerAnswer, call: FailedCall) -> NetworkError {
        if let error = envelope?.refusal(in: answer) ?? APIError(problemIn: answer) { return .api(call, error) }
        return answer.status == 401 ? .unauthorized(call, answer) : .unacceptableStatus(call, answer)
    }
}

extension JSONDecoder {
    /// A decoder like this one that knows of the envelope. The original is shared by all calls and stays as it is.
    fileprivate func knowing(_ envelope: ResponseEnvelope) -> JSONDecoder {
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = dateDecodingStrategy
        copy.dataDecodingStrategy = dataDecodingStrategy
        copy.keyDecodingStrategy = keyDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        copy.allowsJSON5 = allowsJSON5
        copy.assumesTopLevelDictionary = assumesTopLevelDictionary
        copy.userInfo = userInfo
        if let key = Enveloped<Empty>.key { copy.userInfo[key] = envelope }
        return copy
    }
}

extension DecodingFailure {
    /// Names the place and the reason that Foundation gives.
    init(_ error: any Error, type: String, answer: ServerAnswer) {
        func failure(_ path: [any CodingKey], _ reason: String) -> DecodingFailure {
            DecodingFailure(type: type, codingPath: Self.text(of: path), reason: reason, answer: answer)
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            self = failure(context.codingPath + [key], "it is missing")
        case DecodingError.valueNotFound(let expected, let context):
            self = failure(context.codingPath, "there is null where \(expected) should be")
        case DecodingError.typeMismatch(let expected, let context):
            self = failure(context.codingPath, "there is no \(expected)")
        case DecodingError.dataCorrupted(let context):
            self = failure(context.codingPath, context.debugDescription)
        default:
            self = failure([], String(describing: error))
        }
    }

    /// `articles[3].createdAt`.
    private static func text(of path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
