internal import HTTPTypes

/// The state of one call in the pipeline.
struct CallState: Sendable {
    /// The request as it was built and prepared, without a token.
    var request: HTTPRequest
    var recipient: Recipient
    var context: RequestContext
    var authorization: Authorization
    /// The sources of the parts of the prepared request; `nil` without interceptors.
    var sources: RequestSources?
    /// The response to the last attempt that got one.
    private(set) var lastResponse: ServerResponse?
    let monitor: TransferMonitor?
    let receiver: (any ResponseReceiver)?
    /// Reports the call to the observers; `nil` without observers.
    var observation: CallObservation?
    /// The number of times the call has waited for a network.
    private(set) var connectivityWaits = 0
    /// The owner of what the response leaves behind; `nil` if the client keeps nothing.
    let responseOwner: ResponseOwner?
    /// The cookies that the call sends and receives; `nil` without a jar.
    var cookies: CallCookies?
    /// The `Cookie` field of the current attempt, with the cookies of the jar. It is read once, so that a response is
    /// never stored under cookies that its request did not have. Requests after a redirect read the jar again.
    private(set) var cookieField: String?
    /// The call as it was built, if other callers may join it.
    var built: BuiltCall?
    var expectation = ContinueExpectation()

    /// The body of the attempt under way; between attempts, that of the prepared request.
    var body: PreparedBody? { context.outgoing }

    /// Keeps the response of a failed attempt, if the attempt got one.
    mutating func keepResponse(of failure: NetworkError) {
        lastResponse = failure.response ?? lastResponse
    }

    mutating func countConnectivityWait() {
        connectivityWaits += 1
    }

    mutating func readCookies(for request: HTTPRequest, at origin: Origin) {
        guard let cookies else { return }
        cookieField = cookies.adding(to: request, at: origin).headerFields[.cookie]
        if let built, built.cookieField != cookieField { built.onOtherCookies() }
    }
}

/// A call whose request is built already. It is a class because `CallState` is large and most calls have none.
final class BuiltCall: Sendable {
    let state: CallState
    /// The `Cookie` field that the calls have in common.
    let cookieField: String?
    /// Called if the request is sent with other cookies, which the jar has got since.
    let onOtherCookies: @Sendable () -> Void

    init(_ state: CallState, cookieField: String?, onOtherCookies: @escaping @Sendable () -> Void) {
        (self.state, self.cookieField, self.onOtherCookies) = (state, cookieField, onOtherCookies)
    }
}
