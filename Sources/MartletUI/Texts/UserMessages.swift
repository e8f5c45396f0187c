public import Martlet

extension NetworkError {
    /// What to tell the person who uses the app, in their language: no address, no status, no advice for developers, which
    /// are in `description`. Where the server explained its refusal, it is the server's own words.
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
        case .unacceptableStatus(_, let answer), .unauthorized(_, let answer): Wording.refusal(status: answer.status)
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
    /// What a status means to a person who knows none.
    static func refusal(status: Int) -> String {
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
    /// The server's words, those on the refused fields included, with secrets masked; what its status means where it has
    /// none.
    fileprivate var userMessage: String {
        // A field's description masks what a server might quote.
        let texts = ([message] + errors.map(\.message)).filter { !$0.isEmpty }
        guard !texts.isEmpty else { return Wording.refusal(status: status) }
        return FieldError(message: texts.joined(separator: " ")).description
    }
}

extension ExpiryReason {
    /// What to tell the person whose session has ended, in their language.
    public var userMessage: String {
        switch self {
        case .refreshTokenRejected: Wording.sessionRefused.text()
        case .noRefreshToken: Wording.sessionRanOut.text()
        case .rotationLost: Wording.sessionInterrupted.text()
        }
    }
}

extension StorageFailure {
    /// What to tell the person whose session cannot be read for now, in their language.
    public var userMessage: String {
        switch kind {
        case .locked: Wording.storeLocked.text()
        case .unreachable: Wording.storeUnreachable.text()
        case .corrupt: Wording.storeDamaged.text()
        case .tooNew: Wording.storeTooNew.text()
        case .unsafePermissions: Wording.storeUnsafe.text()
        }
    }
}

extension RefreshFailure {
    fileprivate var userMessage: String {
        switch kind {
        case .offline: Wording.offline.text()
        case .connection: Wording.cannotConnect.text()
        case .timedOut: Wording.timedOut.text()
        case .status, .unreadableAnswer, .tooManyRefreshes, .refresher, .storage: Wording.renewalFailed.text()
        }
    }
}

extension DownloadFailure {
    fileprivate var userMessage: String {
        switch self {
        case .file: Wording.notSaved.text()
        case .digestMismatch, .digestMissing: Wording.damaged.text()
        case .noContent: Wording.nothingThere.text()
        }
    }
}
