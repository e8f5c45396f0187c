// `URLRequest` is part of FoundationNetworking, which is not linked without the trait. The constraints name two of its
// conformances, so that the errors about requests of other clients do not name the trait.

#if os(Linux) && !URLSession && AsyncHTTPClient
    public import FoundationEssentials

    extension TokenManager {
        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        @discardableResult
        public func sign<Request: Hashable & CustomReflectable>(
            _ request: inout Request, _ requirement: AuthenticationRequirement = .ifSignedIn,
            for session: SessionID? = nil
        ) async throws(SessionError) -> SessionStamp? { nil }

        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public func recover<Request: Hashable & CustomReflectable>(
            from response: Any, body: Data = Data(), to request: inout Request
        ) async throws(SessionError) -> Bool { false }

        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public func redirected<Request: Hashable & CustomReflectable>(
            _ request: Request?, by response: Any, to next: Request
        ) -> Request { next }
    }
#endif
