// The compiler checks types before it reports that a declaration is unavailable. So the name of the type that they
// return says what is missing, and they take what calls have.

#if !canImport(Combine) && !OpenCombine
    public import Martlet

    /// Publishers need the trait `OpenCombine`: add `traits: [.defaults, "OpenCombine"]` to the package in
    /// Package.swift.
    public struct NeedsTraitOpenCombine {
        fileprivate init() {}
    }

    extension APIClient {
        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func publisher<Value>(for endpoint: some Endpoint, as type: Value.Type) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func publisher(for endpoint: some Endpoint) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func responsePublisher<Value>(for endpoint: some Endpoint, as type: Value.Type) -> NeedsTraitOpenCombine
        { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func responsePublisher(for endpoint: some Endpoint) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func dataPublisher(for endpoint: some Endpoint) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadPublisher<Value>(for endpoint: some Endpoint, as type: Value.Type) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadPublisher(for endpoint: some Endpoint) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadResponsePublisher<Value>(for endpoint: some Endpoint, as type: Value.Type)
            -> NeedsTraitOpenCombine
        { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadResponsePublisher(for endpoint: some Endpoint) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func downloadPublisher(for endpoint: some Endpoint, to destination: Any) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func publisher(for endpoint: some Endpoint, on scheduler: Any) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func responsePublisher(for endpoint: some Endpoint, on scheduler: Any) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func dataPublisher(for endpoint: some Endpoint, on scheduler: Any) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func publisher<Value>(
            for endpoint: some Endpoint, as type: Value.Type, on scheduler: Any
        ) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func responsePublisher<Value>(
            for endpoint: some Endpoint, as type: Value.Type, on scheduler: Any
        ) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadPublisher(for endpoint: some Endpoint, on scheduler: Any) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func uploadResponsePublisher(for endpoint: some Endpoint, on scheduler: Any) -> NeedsTraitOpenCombine {
            NeedsTraitOpenCombine()
        }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func downloadPublisher(
            for endpoint: some Endpoint, to destination: Any, on scheduler: Any
        ) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }
    }

    extension TokenManager {
        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public var statePublisher: NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public var eventPublisher: NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func statePublisher(on scheduler: Any) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }

        /// Needs the trait `OpenCombine`.
        @available(
            *, unavailable,
            message:
                "needs the trait OpenCombine: add traits: [.defaults, \"OpenCombine\"] to the package martlet in Package.swift"
        )
        public func eventPublisher(on scheduler: Any) -> NeedsTraitOpenCombine { NeedsTraitOpenCombine() }
    }
#endif
