// They take the arguments that a call may have, so that the compiler reports the trait and nothing else.

#if !canImport(Combine) && !OpenCombine
    public import Martlet

    extension APIClient {
        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func publisher<Value>(for endpoint: some Endpoint, as type: Value.Type) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func publisher(for endpoint: some Endpoint) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func responsePublisher<Value>(for endpoint: some Endpoint, as type: Value.Type) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func responsePublisher(for endpoint: some Endpoint) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func dataPublisher(for endpoint: some Endpoint) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadPublisher<Value>(for endpoint: some Endpoint, as type: Value.Type) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadPublisher(for endpoint: some Endpoint) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadResponsePublisher<Value>(for endpoint: some Endpoint, as type: Value.Type) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadResponsePublisher(for endpoint: some Endpoint) {}

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func downloadPublisher(for endpoint: some Endpoint, to path: String) {}
    }

    extension TokenManager {
        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public var statePublisher: Void { () }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public var eventPublisher: Void { () }
    }
#endif
