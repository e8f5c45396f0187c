#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Turns calls, their attempts and the refreshes of a session into intervals, for a tool that shows them over time.
final class CallIntervals: NetworkObserver {
    /// The kind of an interval.
    enum Kind: Sendable, Hashable {
        case call, attempt, refresh
    }

    typealias End = @Sendable (_ outcome: String) -> Void

    private struct OpenCall {
        var end: End?
        var endOfAttempt: End?
    }

    private struct State {
        var calls: [UUID: OpenCall] = [:]
        var endOfRefresh: End?
    }

    private let begin: @Sendable (_ kind: Kind, _ text: String, _ target: String) -> End
    private let state = Locked(State())

    /// - Parameter begin: Begins an interval. The text never identifies a person. The target, a path and query with
    ///   secrets masked, may.
    init(begin: @escaping @Sendable (_ kind: Kind, _ text: String, _ target: String) -> End) {
        self.begin = begin
    }

    func observe(_ event: CallEvent) {
        switch event {
        case .started(let call):
            let end = begin(.call, call.request.method.rawValue, call.request.path ?? "")
            state.withLock { $0.calls[call.id, default: OpenCall()].end = end }
        case .attemptStarted(let call):
            endAttempt(of: call, "replaced")
            let end = begin(.attempt, "\(call.request.method.rawValue) \(call.attempt)", call.request.path ?? "")
            state.withLock { $0.calls[call.id, default: OpenCall()].endOfAttempt = end }
        case .received(let call, let response): endAttempt(of: call, "\(response.status)")
        case .attemptFailed(let call, let error): endAttempt(of: call, error.isCancelled ? "cancelled" : "failed")
        case .finished(let call, let result): end(call, with: result)
        case .redirected, .waitingForConnectivity, .retrying, .streamBroke: break
        }
    }

    private func end(_ call: ObservedCall, with result: Result<Int, NetworkError>) {
        let open = state.withLock { $0.calls.removeValue(forKey: call.id) }
        let outcome =
            switch result {
            case .success(let status): "\(status)"
            case .failure(let error) where error.isCancelled: "cancelled"
            case .failure(let error): error.response.map { "\($0.status)" } ?? "failed"
            }
        open?.endOfAttempt?(outcome)
        open?.end?(outcome)
    }

    private func endAttempt(of call: ObservedCall, _ outcome: String) {
        let end = state.withLock { state in
            defer { state.calls[call.id]?.endOfAttempt = nil }
            return state.calls[call.id]?.endOfAttempt
        }
        end?(outcome)
    }

    /// Records an event of a session, which has at most one refresh under way.
    func record(_ event: SessionEvent) {
        switch event {
        case .refreshStarted(_, let reason):
            endRefresh("replaced")
            let end = begin(.refresh, "\(reason)", "")
            state.withLock { $0.endOfRefresh = end }
        case .refreshSucceeded: endRefresh("new tokens")
        case .refreshFailed: endRefresh("failed")
        case .adopted: endRefresh("tokens of another process")
        case .refreshDiscarded: endRefresh("discarded")
        case .expired: endRefresh("the session ended")
        case .signedIn, .signedOut, .signedOutElsewhere: endRefresh("the session changed")
        default: break
        }
    }

    private func endRefresh(_ outcome: String) {
        let end = state.withLock { state in
            defer { state.endOfRefresh = nil }
            return state.endOfRefresh
        }
        end?(outcome)
    }
}
