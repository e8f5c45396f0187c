extension NetworkError: CustomStringConvertible, CustomReflectable {
    /// A message that names the call, and says why it failed and what to do next.
    public var description: String {
        "\(call): \(details)" + (call.attempts > 1 ? " (\(call.attempts) attempts)" : "")
    }

    /// Shows only the redacted description, because an underlying error may show a secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description], displayStyle: .enum)
    }

    /// A message that says why the call failed and what to do next, without naming the call: for a command-line program
    /// that names it itself. Secrets are masked. It is one line without control characters, whatever a server has sent.
    /// The description also quotes the beginning of a body that could not be decoded.
    ///
    /// ```swift
    /// try FileHandle.standardError.write(contentsOf: Data("upload failed: \(error.explanation)\n".utf8))
    /// ```
    public var explanation: String {
        if case .decoding(_, let error) = self { error.summary.onOneLine } else { message.onOneLine }
    }

    /// The explanation for developers, with an excerpt of a body that could not be decoded.
    var details: String { message.onOneLine }

    private var message: String {
        switch self {
        case .offline: "this device is offline. Try again when it is connected."
        case .cannotConnect(_, let reason):
            "the server could not be reached (\(Redaction.redactReason(reason))). Check the address and the network."
        case .connectionLost(let call, let reason):
            "the connection was lost (\(Redaction.redactReason(reason))). \(call.isIdempotent ? "Try again." : Self.doubt)"
        case .timedOut(let call, let limit): Self.timeout(limit, of: call)
        case .cancelled: "the call was cancelled."
        case .tlsFailed(_, let reason):
            "no secure connection could be established (\(Redaction.redactReason(reason))). "
                + "Check the scheme and port of the URL, and the server's certificate."
        case .invalidRequest(_, let reason): "the request is invalid. \(Redaction.redactReason(reason))"
        case .unreadableFile(_, _, let reason): "a file cannot be sent. \(Redaction.redactReason(reason))"
        case .insecureURL(let call, let url): Self.insecure(Redaction.redactURL(url), of: call)
        case .invalidResponse(_, let reason):
            "the response is invalid or does not match the request (\(Redaction.redactReason(reason)))."
        case .responseTooLarge(let call, let limit): Self.tooLarge(limit, call)
        case .tooManyRedirects(_, let limit):
            "the server sent more than \(limit) redirects. Check the URL, or raise maximumRedirects."
        case .unacceptableStatus(let call, let response): Self.refusal(response, of: call)
        case .api(_, let error): "the server reported an error: \(error)"
        case .decoding(_, let error): error.description
        case .unauthorized(_, let response): "not authorized; the server responded with \(response)"
        case .signInRequired: "this call requires a session, and no user is signed in. Sign in first."
        case .sessionExpired(_, let reason, _): "the session has ended: \(reason). Sign in again."
        case .sessionChanged:
            "the session that this call belongs to has ended. The call is not sent under another session."
        case .refreshFailed(_, let error, _):
            "the access token could not be refreshed: \(error). The session is kept; try again later."
        case .storageUnavailable(_, let error): "the stored session cannot be used: \(error.advice)"
        case .bodyNotReplayable:
            "the request had to be sent again, but its body can be read only once. Use a body that can be replayed."
        case .downloadFailed(_, let error): "the download failed. \(error)"
        case .interceptorFailed(_, let error): "an interceptor failed: \(Redaction.redact(String(describing: error)))"
        case .transport(_, let error): "the transport failed: \(Redaction.redact(String(describing: error)))"
        }
    }

    private static func tooLarge(_ limit: Int, _ call: CallDescription) -> String {
        call.awaitsHead
            ? "the stream, or an event in it, is larger than \(limit) bytes. Raise the limit."
            : "the response is larger than \(limit) bytes. Download it to a file, or raise maximumResponseBytes."
    }

    private static func insecure(_ url: String, of call: CallDescription) -> String {
        (url == call.url ? "the URL is" : "the server redirected to \(url), which is")
            + " not secure, so nothing was sent there. Use https, or set allowsInsecureHTTP of the TokenManager, or of the "
            + "configuration of a client without one."
    }

    /// The advice for a request that the server would carry out again.
    private static let doubt = "The server may have carried out the request: check before you send it again."

    /// - Returns: The response, with advice if the server may respond differently to a later request.
    private static func refusal(_ response: ServerResponse, of call: CallDescription) -> String {
        let text = "the server responded with \(response)"
        guard isTransient(response.status) else { return text }
        let end = text.last.map { ".…!?".contains($0) } == true ? " " : ". "
        return text + end + (call.isInDoubt(after: response.status) ? doubt : "Try again later.")
    }

    private static func timeout(_ limit: Duration, of call: CallDescription) -> String {
        let seconds = limit.inSeconds.shortText
        guard call.awaitsHead else {
            return "no complete response within \(seconds) s. "
                + (call.isIdempotent ? "Try again, or raise the timeout." : Self.doubt)
        }
        // CFNetwork looks into the body before it reports the head of such a response.
        return "no response header within \(seconds) s. Have the server send it before the first chunk of the body. "
            + "Apple's URLSession withholds it until 512 bytes have arrived, unless the server sends "
            + "\"X-Content-Type-Options: nosniff\" or a type such as text/event-stream or application/json. "
            + "Or raise the timeout."
    }
}

extension Double {
    /// A number of seconds without trailing zeros: `30`, `0.25`.
    var shortText: String {
        if self == rounded(), abs(self) < 1e15 { return String(Int64(self)) }
        return String((self * 1000).rounded() / 1000)
    }
}
