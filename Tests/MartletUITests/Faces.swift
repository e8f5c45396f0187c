import Martlet
import MartletTesting

@testable import MartletUI

/// The two faces of each model: what holds for one holds for the other.
enum Face: String, CaseIterable, Sendable {
    case observable
    #if canImport(Combine) || OpenCombine
        case published
    #endif

    @MainActor func session(
        _ source: SessionSource, patience: Duration = .seconds(3), time: any TimeSource = ManualTimeSource()
    ) throws -> any SessionFace {
        #if canImport(Combine) || OpenCombine
            if self == .published { return SessionViewModel(source, patience: patience, time: time) }
        #endif
        guard #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) else { throw TooOld() }
        return SessionModel(source, patience: patience, time: time)
    }

    @MainActor func login(_ registration: GuestRegistration, longestName: Int = 100) throws -> any GuestLoginFace {
        #if canImport(Combine) || OpenCombine
            if self == .published { return GuestLoginViewModel(registration, longestName: longestName) }
        #endif
        guard #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) else { throw TooOld() }
        return GuestLoginModel(registration, longestName: longestName)
    }

    struct TooOld: Error {}
}

/// Returns once something holds that nobody announces.
@MainActor func waitUntil(_ condition: @MainActor () -> Bool) async {
    while !condition() { await Task.yield() }
}
