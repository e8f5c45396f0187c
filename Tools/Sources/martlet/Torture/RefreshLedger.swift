/// What the server saw of one session's refreshes, and what was done to the workers that sent them: enough to say why a
/// session was lost.
struct RefreshLedger: Sendable {
    /// One refresh request.
    struct Refresh: Sendable, Hashable {
        let id: String
        let worker: WorkerName
        let arrivedAt: Duration
        /// What the disk had when it arrived.
        let storedRotation: Int
        /// `nil` until the server has dealt with it.
        var status: Int?
        /// When the server had dealt with it: once all of it was there.
        var handledAt: Duration?
    }

    /// One worker killed or stopped.
    struct Strike: Sendable, Hashable {
        enum Kind: String, Sendable, Hashable {
            case kill
            case stop
        }

        let worker: WorkerName
        let kind: Kind
        let at: Duration
        /// When a stopped worker went on.
        var until: Duration?
        /// Whether the worker had a refresh at the server then whose tokens were not on the disk.
        let isInWindow: Bool
    }

    /// Why a session was lost.
    enum Explanation: Sendable, Hashable {
        /// The worker that was given the last tokens was killed or stopped before they were on the disk.
        case struckBeforeWrite(Strike)
        /// A worker that had been stopped, before it sent a token or in the middle of that, sent one that had been
        /// replaced meanwhile.
        case struckBeforeSending(Strike)
    }

    private(set) var refreshes: [Refresh] = []
    private(set) var strikes: [Strike] = []
    /// The refresh with which the session was refused; and what had been granted by then and not
    /// written.
    private var refusal: (refused: Refresh, unwritten: Refresh?)?
    /// The highest rotation that is known to have been on the disk.
    private(set) var storedRotation = 0

    mutating func sessionBegan() {
        self = RefreshLedger()
    }

    mutating func arrived(id: String, from worker: WorkerName, at now: Duration) {
        refreshes.append(Refresh(id: id, worker: worker, arrivedAt: now, storedRotation: storedRotation))
    }

    mutating func handled(id: String, status: Int, at now: Duration) {
        guard let index = refreshes.firstIndex(where: { $0.id == id }) else { return }
        refreshes[index].status = status
        refreshes[index].handledAt = now
        // A token of the session before may be refused late; whatever is granted after that shows that this one lives.
        if status == 200 { refusal = nil }
        if status == 401, refusal == nil { refusal = (refreshes[index], unwrittenGrant) }
    }

    mutating func stored(rotation: Int) {
        storedRotation = max(storedRotation, rotation)
    }

    /// - Returns: Whether the worker was struck between sending a refresh and the durable write.
    @discardableResult
    mutating func struck(_ worker: WorkerName, _ kind: Strike.Kind, at now: Duration) -> Bool {
        let isInWindow = refreshes.contains { refresh in
            refresh.worker == worker && refresh.storedRotation == storedRotation && refresh.status != 401
        }
        strikes.append(Strike(worker: worker, kind: kind, at: now, isInWindow: isInWindow))
        return isInWindow
    }

    mutating func wentOn(_ worker: WorkerName, at now: Duration) {
        guard
            let index = strikes.lastIndex(where: { $0.worker == worker && $0.kind == .stop && $0.until == nil })
        else { return }
        strikes[index].until = now
    }

    /// The refresh whose tokens are not on the disk. Without a grace each granted refresh is one rotation.
    private var unwrittenGrant: Refresh? {
        let granted = refreshes.filter { $0.status == 200 }
        return granted.count > storedRotation ? granted[storedRotation] : nil
    }

    /// How long the tokens had been given out, and not been written, when the old one came back.
    var delay: Duration? {
        guard let refusal, let unwritten = refusal.unwritten else { return nil }
        return refusal.refused.arrivedAt - unwritten.arrivedAt
    }

    /// Which strike the session was lost by; `nil` where none explains it.
    func explanation() -> Explanation? {
        guard let refusal else { return nil }
        // What the server did for a client that was gone may not have been seen to its end.
        let suspects = refusal.unwritten.map { [$0] } ?? refreshes.filter { $0.status == nil }
        for suspect in suspects {
            let strike = strikes.first { strike in
                // Before it arrived it had been sent: a process that is dead or stopped sends nothing.
                strike.worker == suspect.worker
                    && (strike.kind == .kill || strike.until.map { $0 >= suspect.arrivedAt } ?? true)
            }
            if let strike { return .struckBeforeWrite(strike) }
        }
        let strike = strikes.last { strike in
            guard strike.worker == refusal.refused.worker, let until = strike.until,
                let handledAt = refusal.refused.handledAt
            else { return false }
            return until <= handledAt && refusal.refused.arrivedAt - until < .seconds(1)
        }
        return strike.map { .struckBeforeSending($0) }
    }
}
