import Martlet
import MartletTesting

/// Totals of a run, including how often each situation occurred that a useful fuzzer must reach.
struct Tally {
    private(set) var schedules = 0
    private(set) var violations = 0
    private var jobs = 0
    private var counts = [Int](repeating: 0, count: Kind.allCases.count)
    /// The number of schedules that reached each feature.
    private var features = [Int](repeating: 0, count: Feature.allCases.count)

    /// The situations that are counted.
    private enum Kind: Int, CaseIterable {
        case calls, cancellations, signIns, signOuts, refreshes, lost, replays, late, refusals, reuse, adoptions
        case elsewhere, expiries, rotationLost, discarded, requests, rejections, probes, redirects, pieces
        case revocations, deaths, diskFailures, thefts, jumps

        var text: String {
            switch self {
            case .calls: "calls"
            case .cancellations: "calls cancelled"
            case .signIns: "sign-ins"
            case .signOuts: "sign-outs"
            case .refreshes: "refreshes"
            case .lost: "token exchanges failed"
            case .replays: "replays after a lost response"
            case .late: "responses abandoned"
            case .refusals: "refreshes rejected"
            case .reuse: "spent tokens received"
            case .adoptions: "tokens adopted"
            case .elsewhere: "sign-outs elsewhere"
            case .expiries: "sessions expired"
            case .rotationLost: "rotations lost"
            case .discarded: "results discarded"
            case .requests: "requests"
            case .rejections: "requests rejected"
            case .probes: "rejected tokens probed"
            case .redirects: "requests redirected"
            case .pieces: "pieces of streams"
            case .revocations: "sessions revoked"
            case .deaths: "processes killed"
            case .diskFailures: "disk failures"
            case .thefts: "locks taken from their holders"
            case .jumps: "clocks changed"
            }
        }
    }

    mutating func add(_ verdict: Verdict) {
        schedules += 1
        jobs += verdict.jobs
        if !verdict.violations.isEmpty { violations += 1 }
        for entry in verdict.world.history.entries { count(entry.what) }
        for feature in Feature.reached(in: verdict.world) { features[feature.rawValue] += 1 }
    }

    private mutating func count(_ kind: Kind) {
        counts[kind.rawValue] += 1
    }

    private mutating func count(_ occurrence: Occurrence) {
        switch occurrence {
        case .asks(_, _, _, let kind, _):
            count(.calls)
            switch kind {
            case .signIn, .login: count(.signIns)
            case .signOut: count(.signOuts)
            case .token, .renewal, .request, .adoption, .shared, .plain, .download, .account: break
            }
        case .cancels: count(.cancellations)
        case .sends: count(.refreshes)
        case .breaks: count(.lost)
        case .abandons: count(.late)
        case .refuses(_, let reason):
            count(.refusals)
            if reason == .spent { count(.reuse) }
        case .request(let exchange):
            count(.requests)
            if exchange.status == 401 { count(.rejections) }
            if exchange.isElsewhere || exchange.status == 307 { count(.redirects) }
        case .receives: count(.pieces)
        case .revokes: count(.revocations)
        case .disk(_, .killed): count(.deaths)
        case .disk(_, .failed): count(.diskFailures)
        case .disk(_, .tookOverLock): count(.thefts)
        case .jumps, .setsWallClock: count(.jumps)
        case .event(_, let event): count(event)
        default: break
        }
    }

    private mutating func count(_ event: SessionEvent) {
        switch event {
        case .refreshReplayed: count(.replays)
        case .adopted: count(.adoptions)
        case .signedOutElsewhere: count(.elsewhere)
        case .refreshDiscarded: count(.discarded)
        case .tokenProbed: count(.probes)
        case .expired(_, let reason):
            count(.expiries)
            if reason == .rotationLost { count(.rotationLost) }
        default: break
        }
    }

    /// The report of a run.
    func report(after time: Duration) -> String {
        let seconds = max(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18, 0.001)
        let row = { (text: String, count: Int) in
            "  \(text.rightPadded(to: 30))\(String(count).leftPadded(to: 10))"
        }
        let reached =
            Kind.allCases.map { row($0.text, counts[$0.rawValue]) }
            + Feature.allCases.map { row("* " + $0.text, features[$0.rawValue]) }
        return
            (reached + [
                "\(Int(Double(schedules) / seconds)) schedules and \(Int(Double(jobs) / seconds)) jobs a second.",
                "\(schedules) schedules, \(violations) violations",
            ]).joined(separator: "\n")
    }
}
