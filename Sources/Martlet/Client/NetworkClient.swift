#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sends endpoints: signs them, follows redirects, repeats what may be repeated, decodes what comes back.
///
/// ```swift
/// let client = NetworkClient(tokens: tokens)                               // an API with sign-in
/// let open = NetworkClient(baseURL: "https://api.example.com")            // one without
///
/// let articles: [Article] = try await client.send(ArticleEndpoint.all)
/// ```
///
/// Every call takes the same way: build, interceptors adapt, transport, redirects, validation, interceptors retry,
/// decoding. See ``RequestInterceptor`` for the order of the hooks.
public final class NetworkClient: APIClient {
    /// Where the API lives.
    public let baseURL: BaseURL
    /// Whose tokens sign the requests; `nil` for an API without sign-in.
    public let tokens: TokenManager?
    /// What the client does by default.
    public let config: NetworkConfig
    let pipeline: CallPipeline
    private let guests: GuestGate?

    /// A client for an API with sign-in.
    /// - Parameters:
    ///   - tokens: Owns the session; its base URL and transport are the client's too.
    ///   - config: What the client does by default.
    public init(tokens: TokenManager, config: NetworkConfig = NetworkConfig()) {
        self.baseURL = tokens.baseURL
        self.tokens = tokens
        self.config = config
        self.pipeline = CallPipeline(
            baseURL: tokens.baseURL, tokens: tokens, config: config, transport: tokens.transport)
        self.guests = config.guestPolicy.map { GuestGate($0, tokens: tokens) }
    }

    /// A client for an API without sign-in. Endpoints that require a token fail with
    /// ``NetworkError/signInRequired(_:)``.
    /// - Parameters:
    ///   - baseURL: Where the API lives.
    ///   - config: What the client does by default.
    ///   - transport: Sends requests.
    public init(
        baseURL: BaseURL, config: NetworkConfig = NetworkConfig(), transport: any Transport = .platformDefault
    ) {
        self.baseURL = baseURL
        self.tokens = nil
        self.config = config
        self.pipeline = CallPipeline(baseURL: baseURL, tokens: nil, config: config, transport: transport)
        self.guests = nil
    }

    /// Sends an endpoint and decodes the answer.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let raw = try await perform(endpoint, accept: "application/json", monitor: monitor)
        let decoding = ResponseDecoding(decoder: config.decoder, envelope: config.envelope)
        return raw.with(try decoding.decode(type, from: raw))
    }

    /// Sends an endpoint and returns the bytes of the answer as they came, envelope and all.
    public func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data> {
        let raw = try await perform(endpoint, accept: nil, monitor: monitor)
        return raw.with(raw.value.answer.body)
    }

    func perform(
        _ endpoint: any Endpoint, accept: String?, monitor: TransferMonitor?, receiver: (any AnswerReceiver)? = nil
    ) async throws(NetworkError) -> NetworkResponse<RawAnswer> {
        if let guests, endpoint.authentication == .required {
            do throws(NetworkError) {
                try await guests.pass(
                    self, for: FailedCall(method: endpoint.method.rawValue, url: endpoint.path, attempts: 0))
            } catch {
                monitor?.finish()
                throw error
            }
        }
        return try await pipeline.perform(endpoint, accept: accept, monitor: monitor, receiver: receiver)
    }
}

/// What the pipeline gives before decoding.
struct RawAnswer: Sendable {
    let answer: ServerAnswer
    let call: FailedCall
}
