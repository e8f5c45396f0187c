extension NetworkError {
    /// Whether the same call may succeed later without any change: the network, the server or the storage prevented it.
    ///
    /// It does not say whether the server has acted on the call. Ask the user before you repeat a payment.
    public var isRetryable: Bool {
        switch self {
        case .offline, .cannotConnect, .connectionLost, .timedOut, .refreshFailed: true
        case .unacceptableStatus(_, let response): Self.isTransient(response.status)
        case .api(_, let error): Self.isTransient(error.status)
        case .storageUnavailable(_, let error): error.kind.isTransient
        case .downloadFailed(_, .digestMismatch): true
        case .cancelled, .tlsFailed, .invalidRequest, .unreadableFile, .insecureURL, .invalidResponse,
            .responseTooLarge,
            .tooManyRedirects, .decoding, .unauthorized, .signInRequired, .sessionExpired, .sessionChanged,
            .bodyNotReplayable, .downloadFailed, .interceptorFailed, .transport:
            false
        }
    }

    /// Whether this device has no network, for the call or for the refresh of its token.
    public var isOffline: Bool {
        switch self {
        case .offline: true
        case .refreshFailed(_, let error, _): error.kind == .offline
        default: false
        }
    }

    /// The error that caused this one: an interceptor's, the transport's, or one of ``APIError``,
    /// ``ResponseDecodingError``, ``RefreshError``, ``StorageError`` and ``DownloadError``.
    ///
    /// The error of an interceptor or of a transport is passed on unchanged. Its texts may contain what the request
    /// contained.
    public var underlyingError: (any Error)? {
        switch self {
        case .api(_, let error): error
        case .decoding(_, let error): error
        case .refreshFailed(_, let error, _): error
        case .storageUnavailable(_, let error): error
        case .downloadFailed(_, let error): error
        case .interceptorFailed(_, let error), .transport(_, let error): error
        default: nil
        }
    }

    static func isTransient(_ status: Int) -> Bool {
        [408, 425, 429, 500, 502, 503, 504].contains(status)
    }
}
