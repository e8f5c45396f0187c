internal import HTTPTypes

/// The state of one call in the pipeline.
struct CallState: Sendable {
    /// The request as it was built and prepared, without a token.
    var request: HTTPRequest
    /// The header fields of the request as it was built, before ``RequestInterceptor/prepare(_:for:)``.
    let builtFields: HTTPFields
    /// The header fields after each interceptor's ``RequestInterceptor/prepare(_:for:)``.
    var preparedFields: [HTTPFields] = []
    /// Who gets the prepared request.
    var recipient: Recipient
    let body: PreparedBody?
    var context: RequestContext
    var authorization: Authorization
    /// The response to the last attempt that got one.
    var lastResponse: ServerResponse?
    var monitor: TransferMonitor?
    var receiver: (any ResponseReceiver)?
    /// How often the call has waited for a network.
    var connectivityWaits = 0
    /// Whether the server is asked with `Expect: 100-continue` before the body goes out.
    var expectsContinue = false
}
