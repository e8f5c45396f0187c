public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Watches calls without changing them, for logs and metrics. All secrets are masked before an observer sees them.
///
/// The client calls the methods in the order of the call's life, on the thread that runs the call, and waits for them:
/// keep them short. Each method has a default that does nothing. ``RequestInterceptor`` lists how they interleave with
/// the hooks of interceptors.
public protocol NetworkObserver: Sendable {
    /// A call starts. Its request is built and prepared, and has no token yet. If the call is refused before that, for
    /// example because of its URL, the request has only the method and the path of the endpoint, and the next method is
    /// ``callDidFinish(_:result:)``.
    func callWillStart(_ call: ObservedCall)
    /// The client hands an attempt to the transport, with its token.
    func attemptWillStart(_ call: ObservedCall)
    /// The client follows a redirect to `url`.
    func attemptWillRedirect(_ call: ObservedCall, to url: String)
    /// An attempt received a response, whatever its status.
    func attemptDidReceive(_ call: ObservedCall, response: ObservedResponse)
    /// An attempt failed without a response.
    func attemptDidFail(_ call: ObservedCall, error: NetworkError)
    /// The device has no network, and the call waits for one; see ``NetworkConfig/connectivityTimeout``.
    func callIsWaitingForConnectivity(_ call: ObservedCall)
    /// The client will make another attempt.
    /// - Parameters:
    ///   - call: The call, with the attempt that failed.
    ///   - delay: The wait before the next attempt; zero for none.
    ///   - error: The error of the attempt.
    func callWillRetry(_ call: ObservedCall, after delay: Duration, dueTo error: NetworkError)
    /// A call ends, with the outcome that its caller gets: interceptors have processed the response, and it has been
    /// decoded. A stream ends here when its head has arrived. If several callers have joined the call, the first one of
    /// them counts.
    /// - Parameters:
    ///   - call: The call. ``ObservedCall/attempt`` is the number of attempts that were sent.
    ///   - result: The status of the response, or the error.
    func callDidFinish(_ call: ObservedCall, result: Result<Int, NetworkError>)
}

extension NetworkObserver {
    /// Does nothing.
    public func callWillStart(_ call: ObservedCall) {}
    /// Does nothing.
    public func attemptWillStart(_ call: ObservedCall) {}
    /// Does nothing.
    public func attemptWillRedirect(_ call: ObservedCall, to url: String) {}
    /// Does nothing.
    public func attemptDidReceive(_ call: ObservedCall, response: ObservedResponse) {}
    /// Does nothing.
    public func attemptDidFail(_ call: ObservedCall, error: NetworkError) {}
    /// Does nothing.
    public func callIsWaitingForConnectivity(_ call: ObservedCall) {}
    /// Does nothing.
    public func callWillRetry(_ call: ObservedCall, after delay: Duration, dueTo error: NetworkError) {}
    /// Does nothing.
    public func callDidFinish(_ call: ObservedCall, result: Result<Int, NetworkError>) {}
}

/// A call at one moment of its life, as a ``NetworkObserver`` sees it.
public struct ObservedCall: Sendable, Hashable {
    /// Identifies the call within the process.
    public let id: UUID
    /// The request with its secrets masked: as prepared, or as sent in hooks of an attempt that starts or is
    /// redirected.
    public let request: HTTPRequest
    /// The number of the attempt, from 1; 0 before the first.
    public let attempt: Int
    /// The session and rotation of the attempt's token; `nil` if it has no token.
    public let stamp: SessionStamp?
    /// The time since the start of the call.
    public let elapsed: Duration
    /// The metrics of the attempt's last request, in ``NetworkObserver/attemptDidReceive(_:response:)``,
    /// ``NetworkObserver/attemptDidFail(_:error:)`` and ``NetworkObserver/attemptWillRedirect(_:to:)``; `nil` in other
    /// hooks, and if nothing was sent.
    public let metrics: TransferMetrics?
    let body: ObservedBody?

    /// The body of the request as text, with secrets masked.
    /// - Parameter limit: The largest body to return, in bytes.
    /// - Returns: `nil` if there is no body, or if it is longer, not text, or streamed.
    public func bodyText(limit: Int = 4096) -> String? {
        body?.text(limit: limit)
    }
}

extension HTTPRequest {
    /// The request with secrets masked in its header fields, authority, path and query.
    var redacted: HTTPRequest {
        var copy = self
        copy.headerFields = headerFields.redacted
        copy.authority = authority.map(Redaction.redactAuthority)
        copy.path = path.map(Redaction.redactTarget)
        return copy
    }
}

extension HTTPFields {
    /// The header fields with secrets masked.
    var redacted: HTTPFields {
        HTTPFields(
            map { field in
                let isSensitive =
                    field.indexingStrategy == .disallow || Redaction.isSensitive(headerName: field.name.rawName)
                let value = isSensitive ? Redaction.mask : Redaction.redactFieldValue(field.value)
                return value == field.value ? field : HTTPField(name: field.name, value: value)
            })
    }
}
