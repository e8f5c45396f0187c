extension SessionStateMachine {
    /// The owner of a call that is made now.
    var callOwner: CallOwner {
        let owner: CallOwner.Owner =
            switch state {
            case .notLoaded, .loading, .unavailable: .unknown
            case .signedOut: .signedOut
            case .expired: .expired
            case .signedIn(let session): .session(session.record.id)
            }
        return CallOwner(epoch: epoch, owner: owner)
    }

    /// Why a call may not use the current session; `nil` if it belongs to it, or if its session is still to be read.
    func mismatch(with owner: CallOwner) -> SessionError? {
        guard owner.epoch != epoch else { return nil }
        // A call that was made while no user was signed in continues without a session.
        return owner.owner == .signedOut ? .signedOut : .sessionChanged
    }

    /// Why nothing more may be sent or received for a call; `nil` if its session continues.
    func end(of owner: CallOwner) -> SessionError? {
        if case .expired(let reason, _) = state, owner.session != nil, owner.epoch == epoch { return .expired(reason) }
        return mismatch(with: owner)
    }
}

extension TokenManager {
    /// Calls a closure once, when the session of a call has ended; at once if it already has.
    /// - Returns: A closure that cancels this.
    func onEnd(of owner: CallOwner, _ perform: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = core.withLock { core -> Int? in
            guard core.machine.end(of: owner) == nil else { return nil }
            let id = core.machine.makeID()
            core.endings[id] = Ending(owner: owner, perform: perform)
            return id
        }
        guard let id else {
            perform()
            return {}
        }
        return { [weak self] in _ = self?.core.withLock { $0.endings.removeValue(forKey: id) } }
    }
}

extension TokenManager.Core {
    /// Removes and returns what must be done because a session has ended.
    mutating func takeEndings() -> [TokenManager.Ending] {
        guard !endings.isEmpty else { return [] }
        let due = endings.filter { machine.end(of: $0.value.owner) != nil }
        for id in due.keys { endings[id] = nil }
        return Array(due.values)
    }
}
