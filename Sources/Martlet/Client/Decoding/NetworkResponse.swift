public import HTTPTypes

/// The decoded value of a response, with its head, the number of attempts, and the time that the call took.
///
/// Its description shows the status and the attempts. The value, the header fields and the body may hold secrets, such
/// as the tokens of a sign-in.
public struct NetworkResponse<Value: Sendable>: Sendable {
    /// The decoded value.
    public let value: Value
    /// Status and header fields.
    public let head: HTTPResponse
    /// The number of attempts, including the last. An attempt counts even if the cache or an interceptor answered it
    /// and nothing was sent.
    public let attempts: Int
    /// The time from the call to its result, with all waits and attempts.
    public let duration: Duration
    /// The envelope that the value was in.
    private let reading: EnvelopeReading?

    /// Creates a response; meant for an ``APIClient`` of your own.
    public init(
        value: Value, head: HTTPResponse, attempts: Int = 1, duration: Duration = .zero
    ) {
        self.value = value
        self.head = head
        self.attempts = attempts
        self.duration = duration
        self.reading = nil
    }

    /// The result of a call.
    init(_ value: Value, of call: CompletedCall, in envelope: EnvelopeReading? = nil) {
        self.value = value
        self.head = call.head
        self.attempts = call.context.attempt
        self.duration = call.duration
        self.reading = envelope
    }

    /// The status code.
    public var status: Int { head.status.code }

    /// The header fields.
    public var headers: HTTPFields { head.headerFields }
}

extension NetworkResponse {
    /// The server's code for the result, if the response is in an envelope (``NetworkConfig/envelope``).
    public var code: String? { reading?.code }

    /// The server's human-readable message, if the response is in an envelope.
    public var message: String? { reading?.message }

    /// The server's metadata about the response, if it is in an envelope with a `meta` object.
    public var meta: ResponseMeta? { reading?.meta }

    /// Decodes the envelope's `meta` object with ``NetworkConfig/decoder``; `nil` if the response is not in an
    /// envelope.
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

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
    /// `200 after 1 attempt`.
    public var description: String { "\(status) after \(attempts) attempt\(attempts == 1 ? "" : "s")" }

    /// Status and attempts only.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "attempts": attempts], displayStyle: .struct)
    }
}
