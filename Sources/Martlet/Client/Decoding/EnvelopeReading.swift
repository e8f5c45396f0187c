#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An envelope that a response has arrived in. Its fields are read when they are asked for, so that a call whose app
/// reads none of them costs nothing.
struct EnvelopeReading: Sendable {
    let envelope: ResponseEnvelope
    let body: Data
    let decoder: any ResponseDecoder

    private var json: JSONValue? { JSONValue(body: body) }

    var code: String? { json?[envelope.code]?.text }
    var message: String? { json?[envelope.message]?.string }
    var meta: ResponseMeta? { ResponseMeta(json?[envelope.meta], requestIDField: envelope.requestID) }

    func meta<Meta: Decodable>(as type: Meta.Type) throws -> Meta {
        var envelope = envelope
        envelope.data = envelope.meta
        let found = try ResponseEnvelope.$decoding.withValue(envelope) {
            try decoder.decode(Enveloped<Meta>.self, from: body)
        }
        guard let meta = found.value else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: [], debugDescription: "the envelope has no \(envelope.meta)"))
        }
        return meta
    }
}

extension NetworkResponse {
    /// The server's code for the result, if the response is in an envelope (``NetworkConfig/envelope``).
    public var code: String? { reading?.code }

    /// The server's message for people, if the response is in an envelope.
    public var message: String? { reading?.message }

    /// The server's statements about the response, if it is in an envelope with a `meta` object.
    public var meta: ResponseMeta? { reading?.meta }

    /// Decodes the envelope's `meta` object with ``NetworkConfig/decoder``; `nil` if the response is in no envelope.
    ///
    /// ```swift
    /// struct Paging: Decodable { var page: Int, total: Int }
    ///
    /// let response = try await client.response(for: Feed())
    /// let paging = try response.meta(as: Paging.self)
    /// ```
    /// - Throws: The decoder's error if the object is missing or is not of the type.
    public func meta<Meta: Decodable>(as type: Meta.Type = Meta.self) throws -> Meta? {
        try reading?.meta(as: type)
    }
}
