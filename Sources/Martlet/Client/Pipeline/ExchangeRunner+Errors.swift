extension ExchangeRunner {
    /// Converts any error into a ``NetworkError`` that names the call.
    static func wrap(_ error: any Error, call: CallDescription, lastResponse: ServerResponse? = nil) -> NetworkError {
        switch error {
        case let error as NetworkError: error
        case let error as SessionError: NetworkError(error, for: call)
        case is CancellationError: .cancelled(call)
        case let error as TimeLimitError: .timedOut(call, after: error.limit)
        case let error as ByteStream.TooLargeError: .responseTooLarge(call, limit: error.limit)
        case is ByteStream.AlreadyReadError:
            .invalidResponse(call, reason: "its body can be read only once, and has been read before")
        case is BodySpentError: .bodyNotReplayable(call, lastResponse)
        case let problem as InvalidRequestError:
            .invalidRequest(call, reason: Redaction.redactReason(problem.description))
        case let problem as FileError: file(problem, call: call)
        case let failure as DownloadError: .downloadFailed(call, failure)
        case Redirect.Refusal.insecure(let url): .insecureURL(call, url: url)
        case Redirect.Refusal.unusable(let why): .invalidResponse(call, reason: why)
        case let error as TransportError: wrap(error, call: call, lastResponse: lastResponse)
        default: .interceptorFailed(call, error)
        }
    }

    private static func file(_ error: FileError, call: CallDescription) -> NetworkError {
        let reason = Redaction.redactReason(error.description)
        return error.kind.concernsReading
            ? .unreadableFile(call, path: error.path, reason: reason) : .invalidRequest(call, reason: reason)
    }

    private static func wrap(_ error: TransportError, call: CallDescription, lastResponse: ServerResponse?)
        -> NetworkError
    {
        // Redact here: a transport may quote the URL, and the app may show the reason without the description.
        switch error {
        case .offline: .offline(call)
        case .cannotConnect(let why): .cannotConnect(call, reason: Redaction.redactReason(why))
        case .connectionLost(let why): .connectionLost(call, reason: Redaction.redactReason(why))
        case .timedOut: .connectionLost(call, reason: "the transport timed out")
        case .tlsFailed(let why): .tlsFailed(call, reason: Redaction.redactReason(why))
        case .invalidResponse(let why): .invalidResponse(call, reason: Redaction.redactReason(why))
        case .invalidRequest(let why): .invalidRequest(call, reason: Redaction.redactReason(why))
        case .bodyFailed(let error): wrapBody(error, call: call, lastResponse: lastResponse)
        }
    }

    private static func wrapBody(_ error: any Error, call: CallDescription, lastResponse: ServerResponse?)
        -> NetworkError
    {
        let wrapped = wrap(error, call: call, lastResponse: lastResponse)
        guard case .interceptorFailed = wrapped else { return wrapped }
        let why = Redaction.redact(String(describing: error))
        return .invalidRequest(call, reason: "The body could not be read: \(why)")
    }
}

extension NetworkError {
    package init(wrapping error: any Error, call: CallDescription) {
        self = ExchangeRunner.wrap(error, call: call)
    }
}
