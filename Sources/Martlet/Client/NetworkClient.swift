#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sends endpoints to an API: attaches the access token, follows redirects, retries, and decodes the response.
///
/// ```swift
/// let client = NetworkClient(tokens: tokens)                          // an API with sign-in
/// let open = NetworkClient(baseURL: "https://api.example.com")        // an API without sign-in
///
/// let articles: [Article] = try await client.send(ArticleEndpoint.all)
/// ```
///
/// If the server rejects the token, the client refreshes it once for all waiting calls and sends each call again. Every
/// call takes the same steps; see ``RequestInterceptor`` for their order.
public final class NetworkClient: APIClient {
    /// The base URL of the API.
    public let baseURL: BaseURL
    /// The owner of the session whose tokens authorize the requests; `nil` for an API without sign-in.
    public let tokens: TokenManager?
    /// The client's settings.
    public let config: NetworkConfig
    let pipeline: CallPipeline
    let gate: SignInGate?
    /// The client that this one adds interceptors to.
    private let original: NetworkClient?

    /// Creates a client for an API with sign-in.
    /// - Parameters:
    ///   - tokens: The owner of the session. The client uses its base URL and transport.
    ///   - config: The client's settings.
    public init(tokens: TokenManager, config: NetworkConfig = NetworkConfig()) {
        self.baseURL = tokens.baseURL
        self.tokens = tokens
        self.config = config
        self.pipeline = CallPipeline(
            baseURL: tokens.baseURL, tokens: tokens, config: config, transport: tokens.transport)
        self.gate = config.automaticSignIn.map { SignInGate($0, tokens: tokens) }
        self.original = nil
    }

    /// Creates a client for an API without sign-in. Endpoints that require a token fail with
    /// ``NetworkError/signInRequired(_:)``.
    /// - Parameters:
    ///   - baseURL: The base URL of the API.
    ///   - config: The client's settings.
    ///   - transport: Sends the requests. To share the transport of a ``TokenManager`` that the app also has, pass it
    ///     here.
    public init(
        baseURL: BaseURL, config: NetworkConfig = NetworkConfig(), transport: any Transport = .platformDefault
    ) {
        self.baseURL = baseURL
        self.tokens = nil
        self.config = config
        self.pipeline = CallPipeline(baseURL: baseURL, tokens: nil, config: config, transport: transport)
        self.gate = nil
        self.original = nil
    }

    private init(_ original: NetworkClient, interceptors: [any RequestInterceptor]) {
        self.baseURL = original.baseURL
        self.tokens = original.tokens
        self.pipeline = CallPipeline(original.pipeline, interceptors: interceptors)
        self.config = pipeline.config
        self.gate = original.gate
        self.original = original.original ?? original
    }

    /// The same client with further interceptors, for one call or for one part of an app.
    ///
    /// They run before ``NetworkConfig/interceptors``, so that the client's interceptors see their changes. The new
    /// client shares this client's session, connections and request slots. ``NetworkConfig/automaticSignIn`` runs
    /// without the further interceptors.
    ///
    /// ```swift
    /// try await client.intercepted(by: IdempotencyKeys(order.id)).send(Call<NoContent>.post("/orders", .json(order)))
    /// ```
    /// - Parameter interceptors: The interceptors, in order.
    public func intercepted(by interceptors: any RequestInterceptor...) -> NetworkClient {
        NetworkClient(self, interceptors: interceptors)
    }

    /// Sends an endpoint and decodes the response.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let call = try await perform(pipeline.makeCall(endpoint, accept: "application/json", monitor: monitor))
        let value = try call.deliver { [decoding = pipeline.decoding] call throws(NetworkError) in
            try decoding.decode(type, from: call)
        }
        return NetworkResponse(value, of: call, in: pipeline.decoding.reading(of: call.response))
    }

    /// Sends an endpoint and returns the undecoded body of the response, with any envelope.
    public func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data> {
        let call = try await perform(pipeline.makeCall(endpoint, monitor: monitor))
        call.finish()
        return NetworkResponse(call.response.body, of: call)
    }

    func perform(_ call: consuming OutgoingCall) async throws(NetworkError) -> CompletedCall {
        if gate != nil { try await admit(&call) }
        if let joined = pipeline.joined { return try await performJoined(call, in: joined) }
        if call.start.credential == nil, call.start.owner.isBound, call.monitor == nil, call.receiver == nil {
            try await pipeline.waitForTokenEarly(of: &call)
        }
        return try await pipeline.perform(call)
    }

    /// Holds the call until the automatic sign-in has ended, then gives it the session that is current.
    func admit(_ call: inout OutgoingCall) async throws(NetworkError) {
        guard gate != nil, !call.isAdmitted, call.start.owner.session == nil else { return }
        do throws(NetworkError) {
            let start = call.start
            let owner = try await admit(start.owner, for: call.endpoint)
            if owner == start.owner { return call.admit(as: start) }
            call.admit(as: pipeline.makeStart(start.requirement, as: owner, leaving: start.responseOwner))
        } catch {
            call.monitor?.finish()
            pipeline.reportRefusal(error)
            throw error
        }
    }

    /// If the client signs in automatically, holds back a call that requires a session until there is one.
    /// - Returns: The owner with which the call continues.
    func admit(_ owner: CallOwner, for endpoint: any Endpoint) async throws(NetworkError) -> CallOwner {
        guard let gate, endpoint.authentication == .required else { return owner }
        return try await gate.pass(original ?? self, owner, for: endpoint)
    }
}
