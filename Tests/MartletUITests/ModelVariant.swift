import Martlet
import MartletTesting

@testable import MartletUI

/// The two variants of each model: for the Observation framework and for Combine. The same tests apply to both.
enum ModelVariant: String, CaseIterable, Sendable {
    /// ``SessionModel`` and ``GuestLoginModel``.
    case observable
    #if canImport(Combine) || OpenCombine
        /// ``SessionViewModel`` and ``GuestLoginViewModel``.
        case published
    #endif

    @MainActor func session(
        _ source: SessionSource, patience: Duration = .seconds(3), time: any TimeSource = ManualTimeSource()
    ) throws -> any SessionRouting {
        #if canImport(Combine) || OpenCombine
            if self == .published { return SessionViewModel(source, patience: patience, time: time) }
        #endif
        guard #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) else { throw UnsupportedOSVersion() }
        return SessionModel(source, patience: patience, time: time)
    }

    @MainActor func login(_ registration: GuestRegistration, maximumNameLength: Int = 100) throws -> any GuestLogin {
        #if canImport(Combine) || OpenCombine
            if self == .published { return GuestLoginViewModel(registration, maximumNameLength: maximumNameLength) }
        #endif
        guard #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) else { throw UnsupportedOSVersion() }
        return GuestLoginModel(registration, maximumNameLength: maximumNameLength)
    }

    /// The operating system has no Observation framework.
    struct UnsupportedOSVersion: Error {}
}

/// Waits for a condition that no event announces.
@MainActor func waitUntil(_ condition: @MainActor () -> Bool) async {
    while !condition() { await Task.yield() }
}
