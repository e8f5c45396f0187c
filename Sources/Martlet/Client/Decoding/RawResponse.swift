/// The result of the pipeline before decoding.
struct RawResponse: Sendable {
    let response: ServerResponse
    let context: RequestContext
    /// The uptime at which the response had arrived.
    let receivedAt: Duration
    /// The owner of the call.
    let owner: CallOwner

    /// Computed on demand, because redacting the path costs more than most calls need.
    var call: CallDescription { context.call }
}
