extension NetworkClient {
    /// The same client with further interceptors, for one call or for one part of an app.
    ///
    /// They run before ``NetworkConfig/interceptors``, so that the client's interceptors see their changes. Session,
    /// connections and request slots are those of this client. ``NetworkConfig/automaticSignIn`` runs without them.
    ///
    /// ```swift
    /// try await client.intercepted(by: GzipRequests()).send(Call<NoContent>.post("/logs", .json(lines)))
    /// ```
    /// - Parameter interceptors: The interceptors, in order.
    public func intercepted(by interceptors: any RequestInterceptor...) -> NetworkClient {
        NetworkClient(self, interceptors: interceptors)
    }
}
