public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Watches calls without changing them, for logs and metrics. All secrets are masked before an observer sees them.
///
/// ```swift
/// struct FailureCounter: NetworkObserver {
///     func observe(_ event: CallEvent) {
///         if case .finished(let call, .failure(let error)) = event { count(error, of: call.request.path) }
///     }
/// }
/// ```
public protocol NetworkObserver: Sendable {
    /// Called with each event of a call, in order, on the thread that runs the call. The call waits for it, so keep it
    /// short. ``RequestInterceptor`` lists how the events interleave with the hooks of interceptors.
    func observe(_ event: CallEvent)
}

/// An event of a call, as a ``NetworkObserver`` sees it. Later versions may add cases.
@nonexhaustive public indirect enum CallEvent: Sendable {
    /// A call starts. Its request is built and prepared, and has no token yet. If the call is refused before that, for
    /// example because of its URL, the request has only the method and the path of the endpoint, and the next event is
    /// ``finished(_:_:)``.
    case started(ObservedCall)
    /// The client hands an attempt to the transport, with its token.
    case attemptStarted(ObservedCall)
    /// The client follows a redirect to a URL.
    case redirected(ObservedCall, to: String)
    /// An attempt received a response, whatever its status.
    case received(ObservedCall, ObservedResponse)
    /// An attempt failed without a response.
    case attemptFailed(ObservedCall, NetworkError)
    /// The device has no network, and the call waits for one; see ``NetworkConfig/connectivityTimeout``.
    case waitingForConnectivity(ObservedCall)
    /// The client will make another attempt after this delay, which may be zero, because the last attempt failed with
    /// this error.
    case retrying(ObservedCall, after: Duration, dueTo: NetworkError)
    /// A call ends with the outcome that its caller gets: an error, or the status of a response that interceptors have
    /// processed and that has been decoded. A stream is finished when its head has arrived. If several callers have
    /// joined the call, the outcome is that of the first caller. ``ObservedCall/attempt`` is the number of attempts
    /// that were sent.
    case finished(ObservedCall, Result<Int, NetworkError>)
    /// The body of a stream broke off after ``finished(_:_:)``. Its reader gets this error.
    case streamBroke(ObservedCall, NetworkError)

    /// The call at the moment of the event.
    public var call: ObservedCall {
        switch self {
        case .started(let call), .attemptStarted(let call), .redirected(let call, _), .received(let call, _),
            .attemptFailed(let call, _), .waitingForConnectivity(let call), .retrying(let call, _, _),
            .finished(let call, _), .streamBroke(let call, _):
            call
        }
    }
}

/// A call at one moment of its life, as a ``NetworkObserver`` sees it.
public struct ObservedCall: Sendable, Hashable {
    /// Identifies the call within the process.
    public let id: UUID
    /// The request with its secrets masked: as prepared, or as sent if an attempt starts or is redirected.
    public let request: HTTPRequest
    /// The number of the attempt, from 1; 0 before the first.
    public let attempt: Int
    /// The session and rotation of the attempt's token; `nil` if it has no token.
    public let stamp: SessionStamp?
    /// The time since the start of the call.
    public let elapsed: Duration
    /// The metrics of the attempt's last request, in ``CallEvent/received(_:_:)``,
    /// ``CallEvent/attemptFailed(_:_:)`` and ``CallEvent/redirected(_:to:)``; `nil` in other
    /// events, and if nothing was sent.
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
    var redacted: HTTPFields {
        HTTPFields(
            map { field in
                let value = field.redactedValue
                return value == field.value ? field : HTTPField(name: field.name, value: value)
            })
    }
}

extension HTTPField {
    fileprivate var redactedValue: String {
        if indexingStrategy == .disallow || Redaction.isSensitive(headerName: name.rawName) { return Redaction.mask }
        let references: [HTTPField.Name] = [.location, .contentLocation, .referer]
        // They may be relative, and then do not look like URLs.
        return references.contains(name) ? Redaction.redactURL(value) : Redaction.redactFieldValue(value)
    }
}
