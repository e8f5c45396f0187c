/// The refreshes of one session as the server saw them, and the faults that hit the workers meanwhile.
///
/// If the session was lost, ``explanation()`` finds the fault that explains it.
struct RefreshHistory: Sendable {
    /// One refresh request.
    struct Refresh: Sendable, Hashable {
        let id: String
        let worker: WorkerName
        let arrivedAt: Duration
        /// The rotation on the disk when the request arrived.
        let storedRotation: Int
        /// The status of the response; `nil` until the server has handled the request.
        var status: Int?
        /// When the server had handled the request, after it had received all of it.
        var handledAt: Duration?
    }

    /// One kill or stop of a worker process.
    struct Fault: Sendable, Hashable {
        enum Kind: String, Sendable, Hashable {
            case kill
            case stop
        }

        let worker: WorkerName
        let kind: Kind
        let at: Duration
        /// When a stopped worker was resumed.
        var until: Duration?
        /// Whether the worker had sent a refresh whose tokens were not on the disk yet.
        let isDuringRefresh: Bool
    }

    /// The cause of a lost session.
    enum Explanation: Sendable, Hashable {
        /// The worker that was granted the last tokens was killed or stopped before it stored them.
        case faultBeforeWrite(Fault)
        /// A worker was stopped before or while it sent a token. By the time it was resumed, the token had been
        /// replaced.
        case faultBeforeSending(Fault)
    }

    private(set) var refreshes: [Refresh] = []
    private(set) var faults: [Fault] = []
    /// The refresh that the server refused, and the grant that had not been stored by then.
    private var refusal: (refused: Refresh, unwritten: Refresh?)?
    /// The highest rotation that was seen on the disk.
    private(set) var storedRotation = 0

    mutating func sessionBegan() {
        self = RefreshHistory()
    }

    mutating func arrived(id: String, from worker: WorkerName, at now: Duration) {
        refreshes.append(Refresh(id: id, worker: worker, arrivedAt: now, storedRotation: storedRotation))
    }

    mutating func handled(id: String, status: Int, at now: Duration) {
        guard let index = refreshes.firstIndex(where: { $0.id == id }) else { return }
        refreshes[index].status = status
        refreshes[index].handledAt = now
        // A late refusal can belong to the previous session's token. A grant after it proves that this session is
        // alive.
        if status == 200 { refusal = nil }
        if status == 401, refusal == nil { refusal = (refreshes[index], unwrittenGrant) }
    }

    mutating func stored(rotation: Int) {
        storedRotation = max(storedRotation, rotation)
    }

    /// - Returns: Whether the fault hit the worker between sending a refresh and storing its result.
    @discardableResult
    mutating func faultInjected(_ worker: WorkerName, _ kind: Fault.Kind, at now: Duration) -> Bool {
        let isDuringRefresh = refreshes.contains { refresh in
            refresh.worker == worker && refresh.storedRotation == storedRotation && refresh.status != 401
        }
        faults.append(Fault(worker: worker, kind: kind, at: now, isDuringRefresh: isDuringRefresh))
        return isDuringRefresh
    }

    mutating func resumed(_ worker: WorkerName, at now: Duration) {
        guard
            let index = faults.lastIndex(where: { $0.worker == worker && $0.kind == .stop && $0.until == nil })
        else { return }
        faults[index].until = now
    }

    /// The granted refresh whose tokens are not on the disk. Without a grace period, each grant is one rotation.
    private var unwrittenGrant: Refresh? {
        let granted = refreshes.filter { $0.status == 200 }
        return granted.count > storedRotation ? granted[storedRotation] : nil
    }

    /// How long the tokens had been granted but not stored when another worker sent the old token.
    var delay: Duration? {
        guard let refusal, let unwritten = refusal.unwritten else { return nil }
        return refusal.refused.arrivedAt - unwritten.arrivedAt
    }

    /// The fault that explains the lost session, or `nil` if none does.
    func explanation() -> Explanation? {
        guard let refusal else { return nil }
        // If the client died, the server may not have recorded the end of its request.
        let suspects = refusal.unwritten.map { [$0] } ?? refreshes.filter { $0.status == nil }
        for suspect in suspects {
            let fault = faults.first { fault in
                // A dead or stopped process sends nothing, so the request was sent before it arrived.
                fault.worker == suspect.worker
                    && (fault.kind == .kill || fault.until.map { $0 >= suspect.arrivedAt } ?? true)
            }
            if let fault { return .faultBeforeWrite(fault) }
        }
        let fault = faults.last { fault in
            guard fault.worker == refusal.refused.worker, let until = fault.until,
                let handledAt = refusal.refused.handledAt
            else { return false }
            return until <= handledAt && refusal.refused.arrivedAt - until < .seconds(1)
        }
        return fault.map { .faultBeforeSending($0) }
    }
}
