public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sees what calls do and changes nothing. What it is shown has every secret masked already.
///
/// Methods are called in the order of the call's life, on whatever thread the call runs; keep them short. Each has a
/// default that does nothing. See ``RequestInterceptor`` for how they interleave with interceptors.
public protocol NetworkObserver: Sendable {
    /// A call begins: its request is built and prepared, not yet adapted.
    func callWillStart(_ call: ObservedCall)
    /// An attempt goes to the transport, adapted and signed.
    func attemptWillStart(_ attempt: ObservedAttempt)
    /// The server sent the client elsewhere, and it follows.
    func attemptWillRedirect(_ attempt: ObservedAttempt, to url: String)
    /// An attempt got an answer, of whatever status.
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - status: The status code.
    ///   - bytes: How much of its body was read; zero for an answer that is streamed.
    func attemptDidReceive(_ attempt: ObservedAttempt, status: Int, bytes: Int)
    /// An attempt got no answer.
    func attemptDidFail(_ attempt: ObservedAttempt, error: NetworkError)
    /// Another attempt will be made.
    /// - Parameters:
    ///   - call: The call.
    ///   - delay: How long it waits before; zero for at once.
    ///   - error: Why the attempt before failed.
    func callWillRetry(_ call: ObservedCall, after delay: Duration, dueTo error: NetworkError)
    /// The call is over: its answer is in, not yet processed or decoded, or it has failed.
    func callDidFinish(_ call: FinishedCall)
}

extension NetworkObserver {
    /// Does nothing.
    public func callWillStart(_ call: ObservedCall) {}
    /// Does nothing.
    public func attemptWillStart(_ attempt: ObservedAttempt) {}
    /// Does nothing.
    public func attemptWillRedirect(_ attempt: ObservedAttempt, to url: String) {}
    /// Does nothing.
    public func attemptDidReceive(_ attempt: ObservedAttempt, status: Int, bytes: Int) {}
    /// Does nothing.
    public func attemptDidFail(_ attempt: ObservedAttempt, error: NetworkError) {}
    /// Does nothing.
    public func callWillRetry(_ call: ObservedCall, after delay: Duration, dueTo error: NetworkError) {}
    /// Does nothing.
    public func callDidFinish(_ call: FinishedCall) {}
}

/// A call as an observer sees it.
public struct ObservedCall: Sendable, Hashable {
    /// Tells this call from all others of the process.
    public let id: UUID
    /// The request with its secrets masked.
    public let request: HTTPRequest
}

/// One attempt of a call as an observer sees it.
public struct ObservedAttempt: Sendable, Hashable {
    /// The call it belongs to.
    public let callID: UUID
    /// Its number, from 1.
    public let number: Int
    /// The request as it goes out, with its secrets masked.
    public let request: HTTPRequest
    /// What it carries; `nil` where it carries nothing.
    public let body: ObservedBody?
    /// Which session and rotation signed it; `nil` where it goes out unsigned.
    public let signature: SessionStamp?
    /// How long the call has been under way.
    public let elapsed: Duration
}

/// A call that is over, as an observer sees it.
public struct FinishedCall: Sendable {
    /// Which call.
    public let id: UUID
    /// The request with its secrets masked.
    public let request: HTTPRequest
    /// How many attempts it took.
    public let attempts: Int
    /// How long it took.
    public let duration: Duration
    /// The status of the answer, or why there is none.
    public let result: Result<Int, NetworkError>
}

extension HTTPRequest {
    /// The request with everything masked that must not be seen: sensitive fields, what is one in another field, the user
    /// before the host, and what looks like a secret in its path and query.
    var redacted: HTTPRequest {
        var copy = self
        copy.headerFields = HTTPFields(
            headerFields.map { field in
                let isSensitive =
                    field.indexingStrategy == .disallow || Redaction.isSensitive(headerName: field.name.rawName)
                let value = isSensitive ? Redaction.mask : Redaction.redactFieldValue(field.value)
                return value == field.value ? field : HTTPField(name: field.name, value: value)
            })
        copy.authority = authority.map(Redaction.redactAuthority)
        copy.path = path.map(Redaction.redactTarget)
        return copy
    }
}
