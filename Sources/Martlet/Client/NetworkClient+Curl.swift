extension NetworkClient {
    /// An endpoint as a command for `curl`, with every secret masked. See `HTTPRequest.curlCommand(body:textLimit:)`.
    ///
    /// It is the request as the endpoint and ``NetworkConfig/headers`` describe it. What interceptors add, such as the token,
    /// is not in it; the observer ``CurlObserver`` sees that as well.
    ///
    /// ```swift
    /// print(try client.curlCommand(for: ArticleEndpoint.create(draft)))
    /// ```
    /// - Parameters:
    ///   - endpoint: What would be sent.
    ///   - textLimit: How many bytes the body may have to be shown.
    /// - Throws: ``NetworkError`` where the request cannot be built.
    public func curlCommand(for endpoint: any Endpoint, textLimit: Int = 4096) throws(NetworkError) -> String {
        let call = try pipeline.build(endpoint, accept: nil, .ifSignedIn)
        let body = call.body.map { ObservedBody(contentType: $0.contentType, length: $0.length, bytes: $0.bytes) }
        return CurlCommand(call.request.redacted, body, textLimit: textLimit).text
    }
}
