package import HTTPTypes

/// The request of an endpoint that is not sent by the client's transport but, for example, by the system in the
/// background. It has no token.
package struct UnsentRequest: Sendable {
    /// Method, URL and header fields, including those of the client.
    package let head: HTTPRequest
    /// The origin that gets the request.
    package let origin: Origin
    /// The description of the call for errors.
    package let call: CallDescription
    private let body: PreparedBody?

    fileprivate init(_ call: CallState) {
        head = call.request
        origin = call.context.origin
        self.call = call.context.call
        body = call.body
    }

    /// The URL of the request.
    package var url: String? { try? head.target() }

    /// Returns the body; `nil` if there is none.
    package func openBody() async throws -> OutgoingBody? {
        try await body?.open()
    }
}

extension NetworkClient {
    /// The client's clocks.
    package var time: any TimeSource { pipeline.time }

    /// Builds the request of an endpoint, without sending it.
    /// - Parameter body: The body in place of the endpoint's.
    /// - Throws: ``NetworkError`` if the request cannot be built.
    package func unsentRequest(
        for endpoint: any Endpoint, body: RequestBody?
    ) async throws(NetworkError) -> UnsentRequest {
        let outgoing = OutgoingCall(
            endpoint, body: body, start: pipeline.makeStart(endpoint.authentication, as: .unbound))
        return UnsentRequest(try pipeline.build(outgoing, length: await body?.measured()))
    }
}
