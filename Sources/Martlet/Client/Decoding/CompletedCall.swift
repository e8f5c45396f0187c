internal import HTTPTypes

/// Receives the outcome of a call.
protocol OutcomeReport: Sendable {
    /// The caller gets a result, from a response with this status.
    func finish(with status: Int)
    /// The caller gets an error.
    func finish(with error: NetworkError)
    /// The body of a stream broke off after its caller got the response.
    func streamBroke(_ error: NetworkError)
}

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
    /// Reports the outcome of the call to the observers; `nil` without observers.
    let report: (any OutcomeReport)?

    /// Computed on demand: redacting the path is expensive, and most calls do not need it.
    package var call: CallDescription { context.call }

    /// Reads the caller's result from the response, and reports the outcome of the call to the observers.
    func deliver<Value>(_ decode: (CompletedCall) throws(NetworkError) -> Value) throws(NetworkError) -> Value {
        guard let report else { return try decode(self) }
        do throws(NetworkError) {
            let value = try decode(self)
            finish()
            return value
        } catch {
            report.finish(with: error)
            throw error
        }
    }

    /// Reports to the observers that the caller gets the response.
    func finish() {
        report?.finish(with: head.status.code)
    }
}
