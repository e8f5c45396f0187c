public import Observation

/// Follows a session, restores it at launch, and says which screen to show. Views observe it with the Observation
/// framework.
///
/// ```swift
/// @State private var session = SessionModel(tokens)
///
/// var body: some View {
///     SignedInGate(session) { _ in HomeView() } login: { LoginView() }
/// }
/// ```
///
/// `SignedInGate` calls ``SessionRouting/run()``. In your own views, call it from a `task` modifier. Before iOS 17 and
/// macOS 14, use ``SessionViewModel``.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @Observable public final class SessionModel: SessionRouting {
    /// The status of the session.
    public private(set) var status = SessionStatus()
    /// Does the work that the members of ``SessionRouting`` start.
    public let core: SessionCore

    /// Creates a model that shows the status of a core.
    public init(core: SessionCore) {
        self.core = core
        status = core.status
        core.onChange = { [weak self] in self?.status = $0 }
    }
}
