#if !os(macOS)
    public import FoundationEssentials

    // https://developer.apple.com/documentation/foundation/processinfo/performexpiringactivity(withreason:using:)
    extension ProcessInfo {
        public func performExpiringActivity(
            withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
        ) { fatalError() }
    }
#endif
