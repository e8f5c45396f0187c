internal import HTTPTypes

/// The `Expect: 100-continue` field of a call, which asks the server before the body is sent (RFC 9110, section
/// 10.1.1).
struct ContinueExpectation: Sendable {
    private enum State {
        case unset
        /// The client has set the field.
        case set
        /// The server does not support the field.
        case refused
    }

    private var state = State.unset

    /// Adds or removes the field to match the body of a request.
    /// - Parameter isWanted: Whether the server is asked about the body.
    mutating func update(_ fields: inout HTTPFields, isWanted: Bool) {
        if isWanted, state != .refused {
            guard fields[.expect] == nil else { return }
            fields[.expect] = "100-continue"
            state = .set
        } else if state == .set {
            fields[.expect] = nil
        }
    }

    /// Removes the field that the client has set, if the server does not support it.
    /// - Returns: Whether the request can be sent again without it.
    mutating func remove(from fields: inout HTTPFields, after failure: NetworkError) -> Bool {
        guard state == .set, failure.response?.status == 417 else { return false }
        state = .refused
        fields[.expect] = nil
        return true
    }
}
