extension NetworkClient {
    /// An endpoint as a `curl` command, with secrets masked as in ``NetworkObserver/curl(textLimit:write:)``.
    ///
    /// The command contains the request as the endpoint and ``NetworkConfig/headers`` define it, without the token and
    /// the changes of interceptors. To see those, add the observer ``NetworkObserver/curl(textLimit:write:)``. If the
    /// body has files, their sizes are read on the calling thread.
    ///
    /// ```swift
    /// print(try client.curlCommand(for: ArticleEndpoint.create(draft)))
    /// ```
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - textLimit: The largest body to include, in bytes.
    /// - Throws: ``NetworkError`` if the request cannot be built.
    public func curlCommand(for endpoint: any Endpoint, textLimit: Int = 4096) throws(NetworkError) -> String {
        let outgoing = OutgoingCall(
            endpoint, body: endpoint.body, start: pipeline.makeStart(.ifSignedIn, as: .unbound))
        var call = try pipeline.build(outgoing, length: outgoing.body?.measure())
        let built = call
        pipeline.authorizer?.markCredentials(in: &call.request, of: built)
        let type = call.request.headerFields[.contentType]
        let shown = call.body.map {
            ObservedBody(contentType: type ?? $0.contentType, length: $0.length, bytes: $0.bytes)
        }
        return CurlCommand(call.request.redacted, shown, textLimit: textLimit).text
    }
}
