/// An event of a ``TransferMonitor``.
public enum TransferEvent: Sendable, Hashable {
    /// An attempt starts, the first with number 1. All counts start again.
    case attempt(Int)
    /// The number of body bytes handed to the network so far.
    case sent(TransferCount)
    /// The number of body bytes received so far.
    case received(TransferCount)
}

extension TransferEvent {
    var sentCount: TransferCount? {
        if case .sent(let count) = self { count } else { nil }
    }

    var receivedCount: TransferCount? {
        if case .received(let count) = self { count } else { nil }
    }

    /// Whether a subscriber that has not received this event yet needs only the newer one.
    func isReplaced(by newer: TransferEvent) -> Bool {
        switch (self, newer) {
        case (.sent, .sent), (.received, .received), (.sent, .attempt), (.received, .attempt): true
        default: false
        }
    }
}
