#if !canImport(Combine) && !OpenCombine
    public import Martlet

    /// Needs the trait `OpenCombine`.
    @available(
        *, unavailable,
        message:
            "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
    )
    @MainActor public final class SessionViewModel {
        /// Needs the trait `OpenCombine`.
        public init(_ tokens: TokenManager) {}
    }

    /// Needs the trait `OpenCombine`.
    @available(
        *, unavailable,
        message:
            "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
    )
    @MainActor public final class GuestLoginViewModel {
        /// Needs the trait `OpenCombine`.
        public init(_ client: NetworkClient) {}
    }
#endif
