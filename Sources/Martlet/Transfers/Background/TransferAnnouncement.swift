extension BackgroundTransfers.State {
    /// Whether the owner of a transfer has ended for good.
    func hasEnded(_ record: TransferRecord) -> Bool {
        ended.contains(record.id) || record.owner.session.map(endedSessions.contains) == true
    }
}

/// A transfer as subscribers are told of it.
struct TransferAnnouncement: Sendable {
    let transfer: BackgroundTransfer
    let record: TransferRecord

    /// Whether the announcement is that the transfer has ended with its owner.
    var isEnd: Bool { transfer.stage == .failed(.sessionEnded) }

    /// Whether a subscriber may learn of the transfer now. Waits while the store cannot be read.
    func isDue(in tokens: TokenManager?) async -> Bool {
        // Only earlier subscribers are sent the end of a session.
        guard let tokens, !isEnd else { return true }
        for await state in tokens.states {
            switch record.owner.standing(in: state) {
            case .current, .renewed, .expired: return true
            case .ended: return false
            case .unknown: continue
            }
        }
        return false
    }
}
