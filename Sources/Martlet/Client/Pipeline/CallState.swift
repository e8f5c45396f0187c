internal import HTTPTypes

/// The state of one call in the pipeline.
struct CallState: Sendable {
    /// The request as it was built and prepared, without a token.
    var request: HTTPRequest
    /// The recipient of the prepared request.
    var recipient: Recipient
    var context: RequestContext
    var authorization: Authorization
    /// The state that only the hooks of interceptors need; `nil` without interceptors.
    var hooks: HookState?
    /// The response to the last attempt that got one.
    var lastResponse: ServerResponse?
    var monitor: TransferMonitor?
    var receiver: (any ResponseReceiver)?
    /// The number of times the call has waited for a network.
    var connectivityWaits = 0
    /// The owner of what the response leaves behind; `nil` if the client keeps nothing.
    var responseOwner: ResponseOwner?
    /// The cookies that the call sends and receives; `nil` without a jar.
    var cookies: CallCookies?
    /// The `Cookie` field of the current attempt, with the cookies of the jar. It is read once, so that a response is never
    /// stored under other cookies than its request had. Requests after a redirect read the jar again.
    var cookieField: String?
    /// Whether the server is asked with `Expect: 100-continue` before the body goes out.
    var expectsContinue = false
    /// Whether the server has refused to be asked.
    var isExpectationRefused = false

    /// The body of the attempt that is under way, else of the prepared request.
    var body: PreparedBody? { context.outgoing }

    /// Reads the cookies of the current attempt.
    mutating func readCookies(for request: HTTPRequest, at origin: Origin) {
        cookieField = cookies?.adding(to: request, at: origin).headerFields[.cookie]
    }
}

/// The sources of a prepared request's parts, so that a third party gets only the parts that are meant for it.
struct HookState: Sendable {
    /// The header fields of the request as it was built.
    let builtFields: HTTPFields
    /// The body of the endpoint.
    let builtBody: PreparedBody?
    /// The header fields that each interceptor has added to the prepared request.
    var ownFields: [HTTPFields]
    /// The interceptor whose body the prepared request has; `nil` for the endpoint's body.
    var bodyAuthor: Int?
    /// The body of the prepared request, from which each attempt starts.
    var preparedBody: PreparedBody?

    init(of call: CallState, interceptors: Int) {
        builtFields = call.request.headerFields
        builtBody = call.body
        ownFields = Array(repeating: HTTPFields(), count: interceptors)
        preparedBody = call.body
    }
}
