import Martlet
import MartletTesting

extension Facts {
    /// The session of a process, or the reason why it has none.
    enum Standing: Hashable {
        case signedOut, expired
        /// The family of the session; 0 if it was never stored.
        case session(Int)
    }

    /// The standings that a process has reported, in order, with the position of each report. A report comes a little
    /// later than what it reports.
    func standings(in life: Life) -> [(position: Int, possible: Set<Standing>)] {
        events.compactMap { position, other, event in
            guard other == life else { return nil }
            switch event {
            case .restored(let stamp?), .signedIn(let stamp), .adopted(let stamp), .refreshSucceeded(let stamp):
                // A record that has never reached the disk has no known family.
                return (position, [.session(family(of: stamp.session) ?? 0)])
            case .restored(nil):
                return (position, hasFoundExpiry(life, before: position) ? [.signedOut, .expired] : [.signedOut])
            case .signedOut, .signedOutElsewhere: return (position, [.signedOut])
            case .expired: return (position, [.expired])
            default: return nil
            }
        }
    }

    /// The standings that a process may have had at some time between two positions.
    func standings(in life: Life, from first: Int, to last: Int) -> Set<Standing> {
        let all = standings(in: life)
        let initial = all.last { $0.position < first }?.possible ?? []
        return all.filter { $0.position > first && holds($0.position, at: last) }.reduce(initial) {
            $0.union($1.possible)
        }
    }

    /// Whether an event that a process reported at a position may have happened before another position. The report may
    /// come later at the same moment, or after a jump of the clock.
    func holds(_ report: Int, at position: Int) -> Bool {
        report < position || time(report) - jump(before: report) <= time(position)
    }

    /// Whether a process has found in its empty store that the session had expired.
    private func hasFoundExpiry(_ life: Life, before position: Int) -> Bool {
        history.entries[..<position].contains { entry in
            guard case .disk(life, .read(.ended(let mark))) = entry.what else { return false }
            return mark.expiry != nil
        }
    }
}
