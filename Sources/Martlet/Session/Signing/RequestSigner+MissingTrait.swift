#if os(Linux) && !URLSession && AsyncHTTPClient
    public import FoundationEssentials

    /// Needs the trait `URLSession`.
    @available(
        *, unavailable,
        message:
            "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
    )
    public final class RequestSigner: Sendable {
        /// Needs the trait `URLSession`.
        public init(tokens: TokenManager) {}

        // Without them, the compiler would also report that the type has no such members.
        /// Needs the trait `URLSession`.
        @discardableResult
        public func sign<Request>(
            _ attempt: inout Request, _ requirement: AuthenticationRequirement = .ifSignedIn,
            of request: any AnyObject & Sendable
        ) async throws(SessionError) -> SessionStamp? { nil }

        /// Needs the trait `URLSession`.
        public func recover<Request>(
            from response: some AnyObject, body: Data = Data(), to attempt: inout Request,
            of request: any AnyObject & Sendable
        ) async throws(SessionError) -> Bool { false }
    }
#endif
