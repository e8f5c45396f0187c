public import GRPCCore
public import Martlet

/// A session for the RPCs to one server.
///
/// ```swift
/// let session = GRPCSession(tokens: tokens, authority: "grpc.example.com")
/// let reply = try await session.call { metadata in
///     try await greeter.sayHello(message, metadata: metadata)
/// }
/// ```
public struct GRPCSession: Sendable {
    private let tokens: TokenManager
    private let scheme: String
    private let authority: String

    /// - Parameters:
    ///   - tokens: The owner of the session.
    ///   - authority: The server of the RPCs. It must be that of the base URL or one of the manager's `trustedOrigins`;
    ///     otherwise RPCs get no token.
    ///   - isSecure: Whether the transport uses TLS. Without it, only this machine gets a token.
    public init(tokens: TokenManager, authority: String, isSecure: Bool = true) {
        self.tokens = tokens
        self.authority = authority
        self.scheme = isSecure ? "https" : "http"
    }

    /// Makes an RPC with a valid token. If the server returns `UNAUTHENTICATED`, the RPC is made once more with a new
    /// token.
    ///
    /// All RPCs share one refresh. The manager's `AccessTokenRejectionRule` must include 401, as the default does:
    /// `UNAUTHENTICATED` is reported to the manager as a 401. An RPC is never repeated for another user; instead,
    /// `SessionError.sessionChanged` is thrown.
    /// - Parameter rpc: Makes the RPC with the metadata, and throws its `RPCError`, as the methods of generated clients
    ///   do. If the RPC is repeated, the whole closure runs again.
    /// - Returns: The result of `rpc`.
    public func call<Result>(_ rpc: (Metadata) async throws -> Result) async throws -> Result {
        var head = head
        try await tokens.sign(&head)
        do {
            return try await rpc(Metadata(of: head))
        } catch let error as RPCError where error.code == .unauthenticated {
            guard try await tokens.recover(from: HTTPResponse(status: .unauthorized), to: &head) else { throw error }
            return try await rpc(Metadata(of: head))
        }
    }

    /// An interceptor that signs every RPC, unless the RPC already has a value for the field of the manager's scheme.
    /// If the server rejects a token, the token is refreshed for the next RPC.
    ///
    /// It does not repeat the rejected RPC: in gRPC Swift 2, all interceptors of an RPC share one stream, so they can
    /// hand a request on only once.
    public var interceptor: some ClientInterceptor { SigningInterceptor(session: self) }

    /// An RPC as it is sent. The manager decides by its URL whether it may carry a token.
    private var head: HTTPRequest {
        HTTPRequest(method: .post, scheme: scheme, authority: authority, path: "/")
    }

    private struct SigningInterceptor: ClientInterceptor {
        let session: GRPCSession

        func intercept<Input: Sendable, Output: Sendable>(
            request: StreamingClientRequest<Input>, context: ClientContext,
            next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
        ) async throws -> StreamingClientResponse<Output> {
            var (request, head) = (request, session.head)
            try await session.tokens.sign(&head)
            // The manager's scheme may use a field other than `authorization`. Only the signed head tells which.
            let signature = Metadata(of: head)
            guard !signature.contains(where: { request.metadata[$0.key].contains { _ in true } }) else {
                return try await next(request, context)
            }
            request.metadata.add(contentsOf: signature)
            let response = try await next(request, context)
            if case .failure(let error) = response.accepted, error.code == .unauthenticated {
                // The caller gets the rejection, whatever becomes of the refresh.
                _ = try? await session.tokens.recover(from: HTTPResponse(status: .unauthorized), to: &head)
            }
            return response
        }
    }
}

extension Metadata {
    /// The header fields that the manager has added to an HTTP request: `authorization`, or the field of its scheme.
    fileprivate init(of head: HTTPRequest) {
        self.init()
        for field in head.headerFields { addString(field.value, forKey: field.name.canonicalName) }
    }
}
