internal import HTTPTypes

/// A call that has succeeded, before its response is decoded.
package struct CompletedCall: Sendable {
    /// The response, as interceptors have processed it.
    package let response: ServerResponse
    /// The head of the response as the server has sent it.
    let head: HTTPResponse
    let context: RequestContext
    let owner: CallOwner
    /// The uptime at which the response had arrived.
    let receivedAt: Duration
    let duration: Duration
    let lastAttemptDuration: Duration

    /// Computed on demand, because redacting the path costs more than most calls need.
    package var call: CallDescription { context.call }
}
