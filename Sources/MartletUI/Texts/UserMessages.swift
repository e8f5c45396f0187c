public import Martlet

extension NetworkError {
    /// A message for the user, in the user's language. It contains no URL, status code or advice for developers; those
    /// are in `description`. If the server sent an explanation, the message is the server's text.
    public var userMessage: String {
        switch self {
        case .offline: Wording.offline.text()
        case .cannotConnect: Wording.cannotConnect.text()
        case .connectionLost: Wording.connectionLost.text()
        case .timedOut: Wording.timedOut.text()
        case .cancelled: Wording.cancelled.text()
        case .tlsFailed, .insecureURL: Wording.notSecure.text()
        case .invalidResponse, .responseTooLarge, .tooManyRedirects, .decoding: Wording.notUnderstood.text()
        case .invalidRequest, .bodyNotReplayable, .interceptorFailed, .transport: Wording.appFault.text()
        case .unacceptableStatus(_, let response), .unauthorized(_, let response):
            Wording.message(forStatus: response.status)
        case .api(_, let error): error.userMessage
        case .signInRequired: Wording.signInRequired.text()
        case .sessionExpired(_, let reason, _): reason.userMessage
        case .sessionChanged: Wording.sessionChanged.text()
        case .refreshFailed(_, let failure, _): failure.userMessage
        case .storageUnavailable(_, let failure): failure.userMessage
        case .downloadFailed(_, let failure): failure.userMessage
        }
    }
}

extension Wording {
    /// A message for an HTTP status code.
    static func message(forStatus status: Int) -> String {
        switch status {
        case 401, 403: notAllowed.text()
        case 404, 410: notFound.text()
        case 408, 504: timedOut.text()
        case 413: tooLarge.text()
        case 429: tooMany.text()
        case 500...: serverTrouble.text()
        default: refused.text()
        }
    }
}

extension APIError {
    /// The server's message and its messages about single fields, with secrets masked. If there are none, a message for
    /// the status code.
    fileprivate var userMessage: String {
        // `FieldError.description` masks secrets that the server quotes.
        let texts = ([message] + errors.map(\.message)).filter { !$0.isEmpty }
        guard !texts.isEmpty else { return Wording.message(forStatus: status) }
        return FieldError(message: texts.joined(separator: " ")).description
    }
}

extension ExpiryReason {
    /// A message that tells the user why the session ended, in the user's language.
    public var userMessage: String {
        switch self {
        case .refreshTokenRejected: Wording.sessionRefused.text()
        case .noRefreshToken: Wording.sessionRanOut.text()
        case .rotationLost: Wording.sessionInterrupted.text()
        }
    }
}

extension StorageError {
    /// A message that tells the user why the stored session cannot be read, in the user's language.
    public var userMessage: String {
        switch kind {
        case .locked: Wording.storeLocked.text()
        case .unreachable: Wording.storeUnreachable.text()
        case .corrupt: Wording.storeDamaged.text()
        case .tooNew: Wording.storeTooNew.text()
        case .foreign: Wording.storeForeign.text()
        case .unsafePermissions: Wording.storeUnsafe.text()
        }
    }
}

extension RefreshError {
    fileprivate var userMessage: String {
        switch kind {
        case .offline: Wording.offline.text()
        case .connection: Wording.cannotConnect.text()
        case .timedOut: Wording.timedOut.text()
        case .status, .unreadableResponse, .tooManyRefreshes, .refresher, .storage, .notSaved:
            Wording.renewalFailed.text()
        }
    }
}

extension DownloadError {
    fileprivate var userMessage: String {
        switch self {
        case .file: Wording.notSaved.text()
        case .digestMismatch, .digestMissing: Wording.damaged.text()
        case .noContent: Wording.nothingThere.text()
        }
    }
}
