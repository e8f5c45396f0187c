#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sends endpoints to an API: attaches the access token, follows redirects, retries, and decodes the response.
///
/// ```swift
/// let client = NetworkClient(tokens: tokens)                               // an API with sign-in
/// let open = NetworkClient(baseURL: "https://api.example.com")            // one without
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
    private let gate: SignInGate?
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
    ///   - transport: Sends the requests.
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

    init(_ original: NetworkClient, interceptors: [any RequestInterceptor]) {
        self.baseURL = original.baseURL
        self.tokens = original.tokens
        self.pipeline = original.pipeline.intercepted(by: interceptors)
        self.config = pipeline.config
        self.gate = original.gate
        self.original = original.original ?? original
    }

    /// Sends an endpoint and decodes the response.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let raw = try await perform(
            endpoint, accept: "application/json", start: pipeline.begin(endpoint.authentication), monitor: monitor)
        var response = raw.with(try pipeline.decoding.decode(type, from: raw))
        response.reading = pipeline.decoding.reading(of: raw.value.response)
        return response
    }

    /// Sends an endpoint and returns the undecoded body of the response, with any envelope.
    public func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data> {
        let raw = try await perform(
            endpoint, accept: nil, start: pipeline.begin(endpoint.authentication), monitor: monitor)
        return raw.with(raw.value.response.body)
    }

    func perform(
        _ endpoint: any Endpoint, accept: String?, start: CallStart, monitor: TransferMonitor?,
        receiver: (any ResponseReceiver)? = nil, isAdmitted: Bool = false
    ) async throws(NetworkError) -> NetworkResponse<RawResponse> {
        var start = start
        if gate != nil, !isAdmitted { start = try await admitted(start, for: endpoint, monitor: monitor) }
        if let joined = pipeline.joined {
            return try await performJoined(
                endpoint, accept: accept, start: start, monitor: monitor, receiver: receiver, in: joined)
        }
        if start.credential == nil, start.owner.isBound, monitor == nil, receiver == nil {
            start = try await pipeline.waitForToken(of: start, for: endpoint, accept: accept)
        }
        return try await pipeline.perform(
            endpoint, accept: accept, start: start, monitor: monitor, receiver: receiver)
    }

    /// Holds a call back as ``admit(_:for:)`` does.
    /// - Returns: The start of the call, with the owner that it has now.
    func admitted(
        _ start: CallStart, for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> CallStart {
        guard gate != nil, start.owner.session == nil else { return start }
        do throws(NetworkError) {
            let owner = try await admit(start.owner, for: endpoint)
            if owner == start.owner { return start }
            return pipeline.begin(start.requirement, as: owner, leaving: start.responseOwner)
        } catch {
            monitor?.finish()
            throw error
        }
    }

    /// Holds a call that requires a session back until there is one, if the client signs in by itself.
    /// - Returns: The owner with which the call continues.
    func admit(_ owner: CallOwner, for endpoint: any Endpoint) async throws(NetworkError) -> CallOwner {
        guard let gate, endpoint.authentication == .required else { return owner }
        return try await gate.pass(original ?? self, owner, for: endpoint)
    }
}
