#if !os(macOS)
    public import FoundationEssentials

    // https://developer.apple.com/documentation/foundation/processinfo/performexpiringactivity(withreason:using:)
    @available(iOS 8.2, tvOS 9, watchOS 2, visionOS 1, *)
    @available(macOS, unavailable)
    extension ProcessInfo {
        public func performExpiringActivity(
            withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
        ) { fatalError() }
    }
#endif
