internal import HTTPTypes

/// Consumes the body of an acceptable response in place of the pipeline: a download writes it to a file, and a stream
/// hands it to the caller.
///
/// The pipeline reads every response that the receiver does not accept, and validates and retries it like any other. A
/// 401 is therefore handled the same way for all calls.
protocol ResponseReceiver: Sendable {
    /// Whether the body is read after the call has returned, so that its connection is still in use.
    var outlivesCall: Bool { get }
    /// The number of the current attempt.
    var attempt: Int { get }
    /// The number of bytes that the next attempt need not receive again.
    var keptBytes: Int64 { get }
    /// Adds header fields to the request before an attempt, such as `Range`.
    func addFields(to request: inout HTTPRequest)
    /// Throws an error if the receiver must not continue under the credentials of an attempt's request.
    /// - Parameters:
    ///   - credentials: The header fields of the request that may identify a user, without the session's own token.
    ///   - inPlaceOfToken: Those of them that replace the session's token.
    ///   - url: The request's URL. An interceptor may have put a credential into it.
    func checkCredentials(
        _ credentials: @autoclosure () -> [HTTPField], inPlaceOfToken: @autoclosure () -> [HTTPField],
        url: @autoclosure () -> String
    ) throws
    /// Whether the receiver consumes the body of this response.
    func accepts(_ head: HTTPResponse, for endpoint: any Endpoint) -> Bool
    /// Consumes the body. After a cancellation or a timeout the pipeline does not wait for this method to return.
    func receive(_ response: IncomingResponse) async throws
    /// Checks the complete body. The pipeline always waits for this method.
    func finish(_ head: HTTPResponse) async throws
    /// Gives up what the receiver has received, if the failure concerns only the fields that it had added.
    /// - Returns: Whether the request is sent again at once.
    func withdrawFields(after failure: NetworkError) -> Bool
}

extension ResponseReceiver {
    var keptBytes: Int64 { 0 }
}

/// A response whose body has not been read yet.
struct IncomingResponse: Sendable {
    /// The number of the attempt that received it.
    let attempt: Int
    let head: HTTPResponse
    let body: ByteStream
    /// Reports how much has arrived. Each report restarts the time limit.
    let progress: @Sendable (TransferCount) -> Void
    /// Reports the end of a body that outlives its call.
    let finish: @Sendable () -> Void
    /// Held while the connection is in use.
    let slot: RequestSlot?
    let owner: CallOwner
}

extension IncomingResponse {
    /// The same response, which also reports its progress to a time limit.
    func reporting(to signal: ProgressSignal) -> IncomingResponse {
        IncomingResponse(
            attempt: attempt, head: head, body: body,
            progress: { [progress] count in
                signal.report()
                progress(count)
            }, finish: finish, slot: slot, owner: owner)
    }
}
