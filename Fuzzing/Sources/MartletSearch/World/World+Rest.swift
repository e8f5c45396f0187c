import MartletTesting

@testable import Martlet

extension World {
    /// Completes all pending work, and checks that memory and store agree. The world cannot be used after that.
    /// - Parameter digest: Receives the events on the way. Two worlds that look the same may differ in the operations
    ///   that wait behind the oldest one. They then come to rest in different ways.
    func rest(_ digest: inout Digest) {
        tell("Then everything works:")
        // The process that reads the record next deletes it.
        let isHidden = disk.isDamaged && disk.record.map { disk.mark?.covers($0) == true } ?? false
        disk.isDamaged = false
        calmDown(&digest)
        advance(to: max(backoffEnd, clock.uptime) + .seconds(200))
        calmDown(&digest)
        guard life.waiting.isEmpty else {
            let kinds = life.waiting.map { "\($0.kind)" }.joined(separator: ", ")
            return violate(.everyCallReturns, "a call never returns: \(kinds)")
        }
        life.ask(.token, of: nil)
        settle()
        calmDown(&digest)
        checkEnd(isHidden)
    }

    private func calmDown(_ digest: inout Digest) {
        checkAfterStep()
        for _ in 0..<200 {
            guard stepToRest(&digest) else { return }
            checkAfterStep()
        }
        violate(.everyPathEnds, "the engine does not come to rest")
    }

    private func checkAfterStep() {
        settle()
        checkReplies()
    }

    /// - Returns: `false` at rest.
    private func stepToRest(_ digest: inout Digest) -> Bool {
        disk.isLockBroken = false
        if let operation = disk.operations.first {
            digest.add(operation, of: disk)
            completeOperation(.works)
        } else if disk.holder == .other {
            disk.releaseLock(of: .other)
        } else if let exchange = server.exchanges.first {
            digest.add(exchange.token)
            perform(.server(0, .answers))
        } else if disk.hasUnreadChange, disk.changes != nil {
            perform(.changeIsReported)
        } else if let next = clock.deadlines.min() {
            advance(to: next)
            settle()
            // The time limit of an operation that ended long ago makes no difference.
            if !disk.operations.isEmpty || !server.exchanges.isEmpty || !life.replies.isEmpty {
                digest.add(instant: clock.uptime)
            }
        } else {
            return false
        }
        return true
    }

    /// - Parameter isHidden: Whether the record had ended, and could not be read.
    private func checkEnd(_ isHidden: Bool) {
        guard rules.violation == nil else { return }
        let stored = disk.record.flatMap { TokenName($0.tokens.accessToken) }
        tell("    at rest: \(life.tokens.state.words), stored: \(stored?.text ?? "nothing")")
        guard life.waiting.isEmpty else { return violate(.everyCallReturns, "a call never returns") }
        switch life.tokens.state {
        case .signedIn(let session):
            let agrees = session.isSaved && session.id == disk.record?.id
            if !agrees || (rules.gaveToken && life.held(.newest)?.name != stored) {
                violate(.stateMatchesStore, "the process and its store differ")
            }
        case .signedOut, .expired:
            if stored != nil, !isHidden { violate(.stateMatchesStore, "the session has ended and is still stored") }
        case .loading, .unavailable, .unreadable:
            violate(.stateMatchesStore, "the store can be read, and the state is \(life.tokens.state.words)")
        }
    }
}
