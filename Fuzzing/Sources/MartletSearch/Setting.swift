@testable import Martlet

/// The conditions that stay the same during a search: the policy and the kind of server and store.
struct Setting: Hashable {
    var isShared = false
    var hasGrace = false
    var hasRefreshToken = true
    /// Whether callers may go out with a rejected token. No other setting has them: they meet neither the lock nor the
    /// grace period, and would take a few events off the depth of each.
    var hasProbes = false
    var lifetime: Duration? = .seconds(3600)

    static let all = [
        Setting(), Setting(hasGrace: true), Setting(isShared: true), Setting(isShared: true, hasGrace: true),
        Setting(lifetime: nil), Setting(hasRefreshToken: false), Setting(hasProbes: true),
    ]

    static let grace = Duration.seconds(90)

    var policy: SessionPolicy {
        var policy = SessionPolicy()
        policy.rotationGrace = hasGrace ? Self.grace : .zero
        policy.refreshBudget = 2
        return policy
    }

    var words: String {
        var words = [isShared ? "shared store" : "own store"]
        if hasGrace { words.append("grace period") }
        if !hasRefreshToken { words.append("no refresh token") }
        if hasProbes { words.append("probes") }
        if lifetime == nil { words.append("no lifetime") }
        return words.joined(separator: ", ")
    }
}

/// The starting point of a search: a record in the store, and the choices that follow.
struct Start {
    enum Stored: Hashable { case nothing, fresh, expired, journaled, spent, damaged }

    let stored: Stored
    var choices: [Choice] = []

    private static let restore: [Choice] = [.asks(.token), .store(.works)]
    private static let send: [Choice] = [.asks(.forced), .store(.works)]

    /// One start for each phase of a session.
    static func all(_ setting: Setting) -> [Start] {
        var starts = [
            Start(stored: .nothing), Start(stored: .fresh), Start(stored: .damaged),
            Start(stored: .nothing, choices: restore),
            Start(stored: .fresh, choices: restore),
        ]
        guard setting.hasRefreshToken else { return starts }
        starts += [
            Start(stored: .journaled), Start(stored: .spent),
            Start(stored: .fresh, choices: restore + send),
            Start(stored: .fresh, choices: restore + send + [.server(0, .isOffline), .store(.works)]),
            Start(stored: .fresh, choices: restore + send + [.server(0, .losesResponse)]),
            Start(stored: .fresh, choices: restore + send + [.server(0, .refuses), .store(.works)]),
        ]
        if setting.hasProbes {
            let refused: [Choice] = [.asks(.replacement(.newest)), .store(.works)]
            starts.append(Start(stored: .fresh, choices: restore + refused + [.asks(.probing)]))
        }
        if setting.lifetime != nil {
            starts += [Start(stored: .expired), Start(stored: .expired, choices: restore)]
        }
        return starts
    }

    var words: String {
        let first =
            switch stored {
            case .nothing: "an empty store"
            case .fresh: "a stored session"
            case .expired: "a stored session whose token has expired"
            case .journaled: "a stored session with the journal of a refresh that sent nothing"
            case .spent: "a stored session with the journal of a refresh whose process died"
            case .damaged: "a damaged record"
            }
        return ([first] + choices.map { "\($0)" }).joined(separator: "; ")
    }
}
