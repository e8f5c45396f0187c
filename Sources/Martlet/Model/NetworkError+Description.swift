extension NetworkError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What failed, on which endpoint, and what to do.
    public var description: String {
        "\(call): \(explanation)" + (call.attempts > 1 ? " (\(call.attempts) attempts)" : "")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The description only: errors of others that are held within may show anything.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description], displayStyle: .enum)
    }

    /// What failed and what to do, without the endpoint.
    var explanation: String {
        switch self {
        case .offline: "this device is offline. Try again when it is connected."
        case .cannotConnect(_, let reason):
            "the server could not be reached (\(reason)). Check the address and the network."
        case .connectionLost(_, let reason): "the connection broke (\(reason)). Try again."
        case .timedOut(_, let limit):
            "no complete answer within \(limit.inSeconds.shortText) s. Try again, or raise the timeout."
        case .cancelled: "cancelled."
        case .tlsFailed(_, let reason):
            "no secure connection could be made (\(reason)). Check the server's certificate."
        case .invalidRequest(_, let problem): "the request could not be built. \(problem)"
        case .insecureURL(_, let url):
            "\(url) is not secure, so nothing was sent there. Use https, or allow plain http for this client."
        case .invalidResponse(_, let reason): "the answer is not valid HTTP (\(reason))."
        case .responseTooLarge(_, let limit):
            "the answer is larger than \(limit) bytes. Download it to a file, or raise the limit."
        case .tooManyRedirects(_, let limit): "more than \(limit) redirects."
        case .unacceptableStatus(_, let answer): "the server answered \(answer)"
        case .api(_, let error): "the server refused: \(error)"
        case .decoding(_, let failure): failure.description
        case .unauthorized(_, let answer): "not authorised; the server answered \(answer)"
        case .signInRequired: "this call needs a signed-in user, and nobody is signed in."
        case .sessionExpired(_, let reason, _): "the session has ended: \(reason). Sign in again."
        case .sessionChanged: "the session that it belonged to is over, so it was not sent again."
        case .refreshFailed(_, let failure, _):
            "the access token could not be renewed: \(failure). The session is kept; try again later."
        case .storageUnavailable(_, let failure): "the stored session cannot be read now: \(failure)"
        case .bodyNotReplayable:
            "it had to be sent again, but its body can be read only once. Use a body that can be replayed."
        case .downloadFailed(_, let failure): "the download failed. \(failure)"
        case .interceptorFailed(_, let error): "an interceptor failed: \(Redaction.redact(String(describing: error)))"
        case .transport(_, let error): "the transport failed: \(Redaction.redact(String(describing: error)))"
        }
    }
}

extension Double {
    /// A number of seconds without needless digits: `30`, `0.25`.
    var shortText: String {
        if self == rounded(), abs(self) < 1e15 { return String(Int64(self)) }
        return String((self * 1000).rounded() / 1000)
    }
}
