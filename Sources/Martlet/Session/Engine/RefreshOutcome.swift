#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SessionStateMachine {
    /// The result of a refresh: new tokens, a transient error, or a terminal rejection.
    indirect enum RefreshOutcome: Hashable, Sendable {
        case success(Tokens, TokenLifetime?, estimatedExpiry: Date?)
        case transient(RefreshError)
        case terminal(ExpiryReason)
    }
}

extension SessionStateMachine.RefreshOutcome {
    /// Classifies the result of a refresher: only a ``RefreshRejectedError`` is terminal.
    /// - Parameter wallClock: The time by this device's clock at which the tokens were received.
    init(_ result: Result<Tokens, any Error>, wallClock: Date) {
        switch result {
        case .success(let tokens) where tokens.accessToken.trimmed.isEmpty:
            self = .transient(
                RefreshError(.unreadableResponse, description: "the refresher has returned an empty access token"))
        case .success(let tokens):
            let lifetime = TokenLifetime(of: tokens, wallClock: wallClock)
            self = .success(
                tokens.storable, lifetime,
                estimatedExpiry: lifetime.map { wallClock.addingTimeInterval($0.remaining.inSeconds) })
        case .failure(let rejection as RefreshRejectedError):
            self = .terminal(.refreshTokenRejected(code: rejection.code.map(Redaction.redact)))
        case .failure(let failure as RefreshError):
            self = .transient(failure)
        case .failure(let error as TimeLimitError):
            self = .transient(
                RefreshError(
                    .timedOut,
                    description: "the token endpoint did not respond within \(error.limit.inSeconds.shortText) s"))
        case .failure(let error):
            self = .transient(RefreshError(.refresher, description: Redaction.redact(String(describing: error))))
        }
    }
}
