import NIOConcurrencyHelpers

/// A one-time event. Actions added after it has fired run immediately.
final class Signal: Sendable {
    private enum State {
        case waiting([@Sendable () -> Void])
        case fired
    }

    private let state = NIOLockedValueBox(State.waiting([]))

    func fire() {
        let actions = state.withLockedValue { state -> [@Sendable () -> Void] in
            guard case .waiting(let actions) = state else { return [] }
            state = .fired
            return actions
        }
        for action in actions { action() }
    }

    func whenFired(_ action: @escaping @Sendable () -> Void) {
        let isFired = state.withLockedValue { state -> Bool in
            guard case .waiting(let actions) = state else { return true }
            state = .waiting(actions + [action])
            return false
        }
        if isFired { action() }
    }
}
