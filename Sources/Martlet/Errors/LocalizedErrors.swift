#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is a message for users, in English or Korean. `description` is for developers.

extension NetworkError: LocalizedError {
    /// A message for the user, in the user's language: English or Korean. It contains no URL, status code or advice for
    /// developers; those are in ``description``. If the server has explained the error, it is the server's message,
    /// with secrets masked.
    public var errorDescription: String? { userText }

    package var userText: String {
        switch self {
        case .offline: UserText.offline.text
        case .cannotConnect: UserText.cannotConnect.text
        case .connectionLost(let call, _):
            (call.isIdempotent ? UserText.connectionLost : .connectionLostInDoubt).text
        case .timedOut(let call, _): (call.isIdempotent ? UserText.timedOut : .timedOutInDoubt).text
        case .cancelled: UserText.cancelled.text
        // The server may have performed a request before it redirected to an insecure URL.
        case .insecureURL(let call, _) where call.attempts > 0 && !call.isIdempotent:
            UserText.connectionLostInDoubt.text
        case .tlsFailed, .insecureURL: UserText.notSecure.text
        case .invalidResponse, .responseTooLarge, .tooManyRedirects, .decoding: UserText.notUnderstood.text
        case .unreadableFile: UserText.fileUnreadable.text
        case .invalidRequest: UserText.notSent.text
        case .bodyNotReplayable, .interceptorFailed, .transport: UserText.appFault.text
        case .unacceptableStatus(let call, let response), .unauthorized(let call, let response):
            UserText.status(response.status, of: call).text
        case .api(let call, let error): error.userText ?? UserText.status(error.status, of: call).text
        case .signInRequired: UserText.signInRequired.text
        case .sessionExpired(_, let reason, _): reason.userText
        case .sessionChanged: UserText.sessionChanged.text
        case .refreshFailed(_, let error, _): error.userText
        case .storageUnavailable(_, let error): error.userText
        case .downloadFailed(_, let error): error.userText
        }
    }
}

extension APIError: LocalizedError {
    /// The server's message and its messages about single fields, with tokens masked. If there are none, a message for
    /// the status code in the user's language.
    public var errorDescription: String? { userText ?? UserText.status(status).text }

    /// The server's own words; `nil` if there are none.
    fileprivate var userText: String? {
        let texts = ([message] + errors.map(\.message)).filter { !$0.isEmpty }
        return texts.isEmpty ? nil : Redaction.redact(texts.joined(separator: " ")).onItsLines
    }
}

extension SessionError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? {
        switch self {
        case .signedOut: UserText.signInRequired.text
        case .expired(let reason): reason.userText
        case .sessionChanged: UserText.sessionChanged.text
        case .unavailable(let error): error.userText
        case .refreshFailed(let error): error.userText
        case .cancelled: UserText.cancelled.text
        }
    }
}

extension ExpiryReason {
    package var userText: String {
        switch self {
        case .refreshTokenRejected: UserText.sessionRefused.text
        case .noRefreshToken: UserText.sessionRanOut.text
        case .rotationLost: UserText.sessionInterrupted.text
        }
    }
}

extension StorageError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? { userText }

    package var userText: String {
        switch kind {
        case .locked: UserText.storeLocked.text
        case .unreachable: UserText.storeUnreachable.text
        case .corrupt: UserText.storeDamaged.text
        case .tooNew: UserText.storeTooNew.text
        case .foreign: UserText.storeForeign.text
        case .unsafePermissions: UserText.storeUnsafe.text
        }
    }
}

extension RefreshError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? { userText }

    fileprivate var userText: String {
        switch kind {
        case .offline: UserText.offline.text
        case .connection: UserText.cannotConnect.text
        case .timedOut: UserText.timedOut.text
        case .status, .unreadableResponse, .tooManyRefreshes, .refresher, .storage, .notSaved:
            UserText.renewalFailed.text
        }
    }
}

extension DownloadError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? { userText }

    fileprivate var userText: String {
        switch self {
        case .file: UserText.notSaved.text
        case .digestMismatch: UserText.damaged.text
        case .digestMissing: UserText.unverified.text
        case .noContent: UserText.nothingThere.text
        }
    }
}

extension ResponseDecodingError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? { UserText.notUnderstood.text }
}

extension TransportError: LocalizedError {
    /// A message for the user, in the user's language.
    public var errorDescription: String? {
        switch self {
        case .offline: UserText.offline.text
        case .cannotConnect: UserText.cannotConnect.text
        case .connectionLost: UserText.connectionLost.text
        case .timedOut: UserText.timedOut.text
        case .tlsFailed: UserText.notSecure.text
        case .invalidResponse: UserText.notUnderstood.text
        case .invalidRequest: UserText.notSent.text
        case .bodyFailed: UserText.appFault.text
        }
    }
}
