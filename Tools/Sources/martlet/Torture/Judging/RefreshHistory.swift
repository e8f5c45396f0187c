/// The refreshes of one session as the server saw them, and the faults that hit the workers at the same time.
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
        /// The time at which the server had handled the request, after it had received all of it.
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
        /// The time at which a stopped worker was resumed.
        var until: Duration?
        /// Whether the worker had sent a refresh whose tokens were not on the disk yet.
        let isDuringRefresh: Bool
        /// The rotation on the disk at that time.
        var storedRotation = 0
    }

    /// The cause of a lost session.
    enum Explanation: Sendable, Hashable {
        /// The worker that was granted the last tokens was killed or stopped before it stored them.
        case faultBeforeWrite(Fault)
        /// A worker was stopped before or while it sent a token. By the time it was resumed, the token had been
        /// replaced.
        case faultBeforeSending(Fault)
    }

    /// A refresh whose token the server refused, and the grants whose tokens were not on the disk then.
    private struct Refusal {
        let id: String
        let unwritten: [Refresh]
    }

    private(set) var refreshes: [Refresh] = []
    private(set) var faults: [Fault] = []
    /// The first refusal since the last grant.
    private var refusal: Refusal?
    private var reuses: [Refusal] = []
    /// The ids of refreshes that got tokens which the server had granted before.
    private var repeats: Set<String> = []
    /// The number of refreshes, faults and reuses of this session that belong to earlier rounds.
    private var earlier = (refreshes: 0, faults: 0, reuses: 0)
    private(set) var signIn: WorkerName?
    /// The rotation on the disk when the access tokens of this round expired.
    private(set) var expiredRotation = 0
    /// The highest rotation that was seen on the disk.
    private(set) var storedRotation = 0

    mutating func sessionBegan(by worker: WorkerName) {
        self = RefreshHistory()
        signIn = worker
    }

    /// Begins the next round.
    mutating func roundBegan() {
        earlier = (refreshes.count, faults.count, reuses.count)
    }

    /// Notes that all access tokens granted so far expire. A worker may have refreshed since the round began.
    mutating func accessTokensExpire() {
        expiredRotation = storedRotation
    }

    var refreshesOfRound: ArraySlice<Refresh> { refreshes[earlier.refreshes...] }
    var faultsOfRound: ArraySlice<Fault> { faults[earlier.faults...] }

    mutating func arrived(id: String, from worker: WorkerName, at now: Duration) {
        refreshes.append(Refresh(id: id, worker: worker, arrivedAt: now, storedRotation: storedRotation))
    }

    /// Notes that the server recognized the token of a refresh as used.
    mutating func reuseDetected(id: String) {
        reuses.append(Refusal(id: id, unwritten: unwrittenGrants))
    }

    /// Notes that the server has returned the same tokens again for a used token.
    mutating func grantRepeated(id: String) {
        repeats.insert(id)
    }

    /// Whether a refresh of this round got tokens that were granted in an earlier round. The access token of this grant
    /// expired when the round began.
    var wasGrantedStaleTokens: Bool {
        let former = refreshes.prefix(earlier.refreshes).filter { $0.status != 401 }
        return refreshesOfRound.contains { refresh in
            repeats.contains(refresh.id) && former.contains { $0.storedRotation == refresh.storedRotation }
        }
    }

    /// Whether the server has revoked the session because of a used token.
    var wasReused: Bool { !reuses.isEmpty }

    mutating func handled(id: String, status: Int, at now: Duration) {
        guard let index = refreshes.firstIndex(where: { $0.id == id }) else { return }
        refreshes[index].status = status
        refreshes[index].handledAt = now
        // A late refusal can belong to the previous session's token. A grant after it proves that this session is
        // alive.
        if status == 200 { refusal = nil }
        if status == 401, refusal == nil { refusal = Refusal(id: id, unwritten: unwrittenGrants) }
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
        faults.append(
            Fault(
                worker: worker, kind: kind, at: now, isDuringRefresh: isDuringRefresh, storedRotation: storedRotation))
        return isDuringRefresh
    }

    mutating func resumed(_ worker: WorkerName, at now: Duration) {
        guard
            let index = faults.lastIndex(where: { $0.worker == worker && $0.kind == .stop && $0.until == nil })
        else { return }
        faults[index].until = now
    }

    /// The granted refreshes whose tokens are not on the disk. Without a grace period, each grant is one rotation.
    private var unwrittenGrants: [Refresh] {
        Array(refreshes.filter { $0.status == 200 }.dropFirst(storedRotation))
    }

    /// Whether a stop kept granted tokens off the disk until the refused token was read from it. The tokens may have
    /// been stored by the time the request arrived.
    private func isStopBeforeWrite(_ fault: Fault, of refused: Refresh) -> Bool {
        guard fault.isDuringRefresh, fault.worker != refused.worker, let until = fault.until else { return false }
        return fault.at <= refused.arrivedAt && refused.arrivedAt - until < .seconds(1)
            && refused.storedRotation - fault.storedRotation <= 1
            && refreshes.contains {
                $0.worker == fault.worker && $0.status == 200 && $0.arrivedAt <= fault.at
                    && $0.storedRotation == fault.storedRotation
            }
    }

    /// The fault that explains the lost session, or `nil` if none does.
    func explanation() -> Explanation? {
        refusal.flatMap { explanation(of: $0, by: faults) }
    }

    /// The reuse detections of this round, each with the fault that explains it. A fault explains at most one of them.
    func reusesOfRound() -> [(refresh: Refresh?, explanation: Explanation?)] {
        var unused = faults
        let all = reuses.map { reuse in
            let explanation = explanation(of: reuse, by: unused)
            if let explanation { unused.removeAll { $0 == explanation.fault } }
            return (refresh(reuse.id), explanation)
        }
        return Array(all[earlier.reuses...])
    }

    private func refresh(_ id: String) -> Refresh? {
        refreshes.first { $0.id == id }
    }

    private func explanation(of refusal: Refusal, by faults: [Fault]) -> Explanation? {
        guard let refused = refresh(refusal.id) else { return nil }
        // If the client died, the server may not have recorded the end of its request.
        let suspects = refusal.unwritten.isEmpty ? refreshes.filter { $0.status == nil } : refusal.unwritten
        for suspect in suspects {
            let fault = faults.first { fault in
                // A dead or stopped process sends nothing, so the request was sent before it arrived.
                fault.worker == suspect.worker
                    && (fault.kind == .kill || fault.until.map { $0 >= suspect.arrivedAt } ?? true)
            }
            if let fault { return .faultBeforeWrite(fault) }
        }
        if let fault = faults.last(where: { isStopBeforeWrite($0, of: refused) }) { return .faultBeforeWrite(fault) }
        let fault = faults.last { fault in
            guard fault.worker == refused.worker, let until = fault.until, let handledAt = refused.handledAt else {
                return false
            }
            return until <= handledAt && refused.arrivedAt - until < .seconds(1)
        }
        return fault.map { .faultBeforeSending($0) }
    }
}

extension RefreshHistory.Explanation {
    /// The fault that caused the loss.
    var fault: RefreshHistory.Fault {
        switch self {
        case .faultBeforeWrite(let fault), .faultBeforeSending(let fault): fault
        }
    }
}
