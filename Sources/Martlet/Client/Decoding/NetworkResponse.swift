public import HTTPTypes

/// The decoded value of a response, with its head and how it was obtained.
public struct NetworkResponse<Value: Sendable>: Sendable {
    /// The decoded value.
    public let value: Value
    /// Status and header fields.
    public let head: HTTPResponse
    /// The number of times the request was sent.
    public let attempts: Int
    /// The time from the call to its result, with all waits and attempts.
    public let duration: Duration
    /// The time from the start of the last attempt to the last byte of its response.
    public let lastAttemptDuration: Duration
    /// The envelope that the value was in.
    var reading: EnvelopeReading?

    /// Creates a response; meant for an ``APIClient`` of your own.
    public init(
        value: Value, head: HTTPResponse, attempts: Int = 1, duration: Duration = .zero,
        lastAttemptDuration: Duration = .zero
    ) {
        self.value = value
        self.head = head
        self.attempts = attempts
        self.duration = duration
        self.lastAttemptDuration = lastAttemptDuration
    }

    /// The status code.
    public var status: Int { head.status.code }

    /// The header fields.
    public var headers: HTTPFields { head.headerFields }

    func with<Other: Sendable>(_ value: Other) -> NetworkResponse<Other> {
        var response = NetworkResponse<Other>(
            value: value, head: head, attempts: attempts, duration: duration, lastAttemptDuration: lastAttemptDuration)
        response.reading = reading
        return response
    }
}
