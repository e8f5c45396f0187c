import Martlet
import MartletTesting

/// How much was done, and how often each thing happened that a fuzzer must reach to be worth anything.
struct Tally {
    private(set) var schedules = 0
    private(set) var violations = 0
    private var jobs = 0
    private var counts = [Int](repeating: 0, count: Kind.allCases.count)

    private enum Kind: Int, CaseIterable {
        case calls, cancellations, signIns, signOuts, refreshes, lost, replays, late, refusals, reuse, adoptions
        case elsewhere, expiries, rotationLost, discarded, requests, rejections, deaths, diskFailures, thefts, jumps

        var text: String {
            switch self {
            case .calls: "calls"
            case .cancellations: "calls cancelled"
            case .signIns: "sign-ins"
            case .signOuts: "sign-outs"
            case .refreshes: "refreshes"
            case .lost: "answers lost or broken"
            case .replays: "replays within the grace"
            case .late: "answers no longer waited for"
            case .refusals: "refreshes refused"
            case .reuse: "spent tokens seen again"
            case .adoptions: "tokens adopted from others"
            case .elsewhere: "sign-outs by others"
            case .expiries: "sessions expired"
            case .rotationLost: "rotations lost"
            case .discarded: "results thrown away"
            case .requests: "requests"
            case .rejections: "requests refused"
            case .deaths: "processes killed"
            case .diskFailures: "disk failures"
            case .thefts: "locks taken from their holders"
            case .jumps: "clocks changed"
            }
        }
    }

    mutating func add(_ judgement: Judgement) {
        schedules += 1
        jobs += judgement.jobs
        if !judgement.violations.isEmpty { violations += 1 }
        for entry in judgement.world.history.entries { count(entry.what) }
    }

    private mutating func count(_ kind: Kind) {
        counts[kind.rawValue] += 1
    }

    private mutating func count(_ happening: Happening) {
        switch happening {
        case .asks(_, _, _, let wish, _):
            count(.calls)
            if case .signIn = wish { count(.signIns) }
            if wish == .signOut { count(.signOuts) }
        case .cancels: count(.cancellations)
        case .sends: count(.refreshes)
        case .breaks: count(.lost)
        case .abandons: count(.late)
        case .refuses(_, let why):
            count(.refusals)
            if why == .spent { count(.reuse) }
        case .request(_, _, _, let isAccepted):
            count(.requests)
            if !isAccepted { count(.rejections) }
        case .disk(_, .killed): count(.deaths)
        case .disk(_, .failed): count(.diskFailures)
        case .disk(_, .tookLock): count(.thefts)
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
        case .expired(_, let reason):
            count(.expiries)
            if reason == .rotationLost { count(.rotationLost) }
        default: break
        }
    }

    /// What to print at the end.
    func report(after time: Duration) -> String {
        let seconds = max(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18, 0.001)
        let reached = Kind.allCases.map {
            "  \($0.text.rightPadded(to: 30))\(String(counts[$0.rawValue]).leftPadded(to: 10))"
        }
        return
            (reached + [
                "\(Int(Double(schedules) / seconds)) schedules and \(Int(Double(jobs) / seconds)) jobs a second.",
                "\(schedules) schedules, \(violations) violations",
            ]).joined(separator: "\n")
    }
}
