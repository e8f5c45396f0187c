public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// May change a request before it is sent, look at its answer, and decide whether a failed attempt is made again.
///
/// Each method has a default that does nothing. For one call, the hooks come in this order, interceptors in the order
/// in which the client lists them:
///
/// 1. ``prepare(_:for:)``, once;
/// 2. ``NetworkObserver/callWillStart(_:)``, once;
/// 3. ``adapt(_:for:)``, before each attempt, then the network;
/// 4. ``validate(_:for:)``, after each answer;
/// 5. ``retry(_:for:dueTo:)``, after each failed attempt;
/// 6. ``NetworkObserver/callDidFinish(_:)``, once;
/// 7. ``process(_:for:)``, once, for a call that succeeded, before its answer is decoded.
///
/// ```swift
/// struct APIKey: RequestInterceptor {
///     let name: HTTPField.Name
///     let key: Secret
///     func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
///         request.headerFields.setSensitive(key.reveal(), for: name)
///     }
/// }
/// ```
///
/// A header field set with `HTTPFields.setSensitive(_:for:)` is never shown to observers and never follows
/// a redirect to another origin.
public protocol RequestInterceptor: Sendable {
    /// Changes the request once, before anything else happens to it. All attempts of the call share what it does.
    /// - Parameters:
    ///   - request: The request as it was built, with its own header fields and `Content-Type`, and without a token.
    ///   - context: What is known of the call; notes that are kept here last as long as it.
    /// - Throws: Anything, to fail the call before it is sent. What is no ``NetworkError`` is wrapped in
    ///   ``NetworkError/interceptorFailed(_:_:)``.
    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws
    /// Changes the request before an attempt; what it does is undone before the next one.
    ///
    /// The call holds its place among ``NetworkConfig/maxConcurrentRequests`` meanwhile, and its timeout has not begun.
    /// - Parameters:
    ///   - request: The request, changed and signed by the interceptors before this one.
    ///   - context: What is known of the call.
    /// - Throws: Anything, to fail the attempt; it may be made again, like any that failed.
    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws
    /// Looks at an answer, whatever its status, and throws to call the attempt failed.
    /// - Parameters:
    ///   - answer: The answer. Where a good one is downloaded or streamed, its body is empty here.
    ///   - context: What is known of the call.
    /// - Throws: Why the attempt counts as failed; the endpoint's own statuses are looked at afterwards.
    func validate(_ answer: ServerAnswer, for context: inout RequestContext) async throws
    /// Decides on a failed attempt. The first interceptor that does not say ``RetryDecision/doNotRetry`` is obeyed.
    ///
    /// Not asked where the call was cancelled.
    /// - Parameters:
    ///   - request: The request as it was prepared, without what ``adapt(_:for:)`` has done to it.
    ///   - context: What is known of the call; ``RequestContext/attempt`` counts the one that failed.
    ///   - error: Why it failed; ``NetworkError/answer`` has the server's answer, where there was one.
    /// - Returns: What becomes of the call.
    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision
    /// Changes an answer before it is decoded: decrypts it, unwraps it.
    ///
    /// Of what is downloaded to a file or streamed it sees the head alone, and what it changes there has no effect.
    /// - Parameters:
    ///   - answer: The answer, changed by the interceptors before this one.
    ///   - context: What is known of the call.
    /// - Returns: The answer to decode.
    /// - Throws: Anything, to fail the call. It is not repeated.
    func process(_ answer: ServerAnswer, for context: inout RequestContext) async throws -> ServerAnswer
}

extension RequestInterceptor {
    /// Changes nothing.
    public func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {}
    /// Changes nothing.
    public func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {}
    /// Finds nothing wrong.
    public func validate(_ answer: ServerAnswer, for context: inout RequestContext) async throws {}
    /// Leaves the decision to others.
    public func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision { .doNotRetry }
    /// Changes nothing.
    public func process(_ answer: ServerAnswer, for context: inout RequestContext) async throws -> ServerAnswer {
        answer
    }
}

/// What becomes of a failed attempt.
public enum RetryDecision: Sendable {
    /// No opinion; the failure stands unless another interceptor decides otherwise.
    case doNotRetry
    /// Once more, at once.
    case retry
    /// Once more, after a while by the client's ``NetworkConfig/time``; zero or less is at once.
    case retryAfter(Duration)
    /// No more, and with this error in place of the failure.
    case fail(NetworkError)
}

/// What an interceptor may know of a call, and where it keeps notes from one hook to the next.
public struct RequestContext: Sendable {
    /// What was called.
    public let endpoint: any Endpoint
    /// The number of the attempt, from 1; 0 while preparing.
    public internal(set) var attempt: Int
    /// Which session and rotation signed the request that is under way; `nil` where it went out unsigned.
    public internal(set) var signature: SessionStamp?
    /// How long the call has been under way, by the client's clock.
    public var elapsed: Duration { time.uptime - startedAt }
    /// The wall clock, against which a server's dates are meant.
    public var wallClock: Date { time.wallClock }
    /// The call as errors name it.
    public var call: FailedCall {
        FailedCall(method: method, url: url, attempts: sent)
    }

    /// What the endpoint asks for, unless the call is a sign-in.
    let authentication: AuthenticationRequirement
    /// How many attempts went to the transport.
    var sent = 0
    let method: String
    let url: String
    let time: any TimeSource
    let startedAt: Duration
    /// Where the request goes.
    var origin: Origin
    /// The field that the token was put into.
    var signedHeader: HTTPField.Name?
    /// The session that signed the first attempt: no other one may sign a later attempt.
    var session: SessionID?
    /// The session whose token the call has had in hand: no other one may sign it, though it may have to wait for another
    /// token before it goes out.
    var owner: SessionID?
    /// Whether the attempt under way failed because the server refused its token.
    var isTokenRejected = false
    /// Whether the one replay after a refusal has been used.
    var hasReplayedAuthentication = false
    /// The token for the next attempt, where it has been waited for already, or why there is none.
    var nextCredential: Result<Credential, SessionError>?
    /// How long the body may be on its way, where that is worth a thought: the token should last as long.
    var transferTime: Duration?
    private var notes: [ObjectIdentifier: any Sendable] = [:]

    init(
        endpoint: any Endpoint, authentication: AuthenticationRequirement, method: String, url: String, origin: Origin,
        time: any TimeSource
    ) {
        self.authentication = authentication
        self.endpoint = endpoint
        self.attempt = 0
        self.time = time
        self.startedAt = time.uptime
        self.method = method
        self.url = url
        self.origin = origin
    }

    /// A note of one type, kept for the length of the call.
    public subscript<Note: Sendable>(_ type: Note.Type) -> Note? {
        get { notes[ObjectIdentifier(type)] as? Note }
        set { notes[ObjectIdentifier(type)] = newValue }
    }
}
