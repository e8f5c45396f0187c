/// The part of a jar that a call uses.
enum CookieSpace: Hashable, Sendable {
    /// The cookies of a session.
    case session(SessionID)
    /// The cookies of calls without a session, in one epoch of the manager with this number.
    case guest(Int?, epoch: Int)
    /// The cookies of calls that were made in this epoch before the store was read. If the store contained a session,
    /// they belong to it. Otherwise they belong to calls without a session.
    case unread(Int?, epoch: Int)
    /// The cookies that one sign-in has received. Only the session that it starts gets them.
    case signIn(Int)
    /// The cookies of a sign-in that starts this session.
    case upcoming(SessionID)

    /// The cookies of an owner.
    init(_ owner: ResponseOwner) {
        switch owner.state.signInState {
        case .session(let session): self = .session(session)
        case .unknown: self = .unread(owner.manager, epoch: owner.state.epoch)
        case .unbound, .signedOut, .expired: self = .guest(owner.manager, epoch: owner.state.epoch)
        }
    }

    /// Whether expired cookies are kept. An expired cookie of a sign-in removes a cookie that was set before the
    /// sign-in.
    var keepsExpired: Bool {
        if case .signIn = self { true } else { false }
    }
}

/// Retained by the closure that a manager runs when a session ends. If the manager is released first, this object is
/// released too, which tells the jar that the end will not be reported.
final class CookieFollower: Sendable {}

/// The cookies of a jar.
struct CookieStore {
    private struct Following {
        let manager: Int?
        weak var follower: CookieFollower?
    }

    private static let (maximumPerDomain, maximumCount) = (100, 1000)

    private var cookies: [CookieSpace: [Cookie]] = [:]
    /// The managers that remove the cookies of a session when it ends. Several managers may share one session.
    private var followers: [SessionID: [Following]] = [:]
    private var created = 0
    private var uses = 0
    private var signIns = 0

    var isEmpty: Bool { cookies.values.allSatisfy(\.isEmpty) }

    /// Gives a session the cookies that were set before it started.
    /// - Returns: A follower that the manager keeps as long as it will report the end of the session; `nil` if the
    ///   manager follows the session already.
    mutating func begin(_ session: SessionID, of manager: Int?, epoch: Int) -> CookieFollower? {
        let known = followers[session] ?? []
        guard !known.contains(where: { $0.manager == manager && $0.follower != nil }) else { return nil }
        let follower = CookieFollower()
        followers[session] = known.filter { $0.follower != nil } + [Following(manager: manager, follower: follower)]
        removeUnfollowed()
        let former: [CookieSpace] = [
            .guest(manager, epoch: epoch - 1), .upcoming(session), .guest(manager, epoch: epoch),
            .unread(manager, epoch: epoch),
        ]
        let earlier = former.flatMap { cookies.removeValue(forKey: $0) ?? [] }
        for cookie in earlier.sorted(by: { $0.number < $1.number }) {
            insert(cookie, in: .session(session))
        }
        forget(manager, before: epoch)
        return follower
    }

    /// Gives calls without a session the cookies from before the store was read, because it contained no session.
    mutating func settle(_ manager: Int?, epoch: Int) {
        for cookie in cookies.removeValue(forKey: .unread(manager, epoch: epoch)) ?? [] {
            insert(cookie, in: .guest(manager, epoch: epoch))
        }
    }

    /// Removes the cookies of sessions whose managers the app has released: nothing reports the end of these sessions.
    private mutating func removeUnfollowed() {
        for (session, following) in followers where !following.contains(where: { $0.follower != nil }) {
            followers[session] = nil
            cookies[.session(session)] = nil
        }
    }

    /// Removes the cookies of a session that has ended, and those of calls without a session up to its epoch.
    mutating func end(_ session: SessionID, of manager: Int?, epoch: Int) {
        cookies[.session(session)] = nil
        followers[session] = nil
        forget(manager, before: epoch + 1)
    }

    /// A number for a sign-in.
    mutating func makeSignIn() -> Int {
        signIns += 1
        return signIns
    }

    /// Gives the cookies of a sign-in to the session that it is about to start.
    mutating func move(signIn number: Int, to session: SessionID) {
        cookies[.upcoming(session)] = cookies.removeValue(forKey: .signIn(number))
    }

    /// Removes what is left of a sign-in that has ended.
    mutating func forget(signIn number: Int, of session: SessionID?) {
        cookies[.signIn(number)] = nil
        if let session { cookies[.upcoming(session)] = nil }
    }

    /// Removes the cookies of earlier epochs.
    mutating func forget(_ manager: Int?, before epoch: Int) {
        cookies = cookies.filter { space, _ in
            switch space {
            case .session, .signIn, .upcoming: true
            case .guest(let owner, let past), .unread(let owner, let past): owner != manager || past >= epoch
            }
        }
    }

    mutating func removeAll() {
        cookies = [:]
    }

    /// - Parameter now: The uptime. If given, expired cookies are removed first to make room (RFC 6265, section 5.3).
    mutating func insert(_ new: Cookie, in space: CookieSpace, at now: Duration? = nil) {
        var (new, all) = (new, cookies[space] ?? [])
        created += 1
        uses += 1
        (new.number, new.lastUse) = (created, uses)
        if let index = all.firstIndex(where: { $0.isSame(as: new) }) {
            // A cookie keeps its place when its value changes (RFC 6265, section 5.3, step 11).
            new.number = all[index].number
            all.remove(at: index)
        }
        all.append(new)
        if let now, !space.keepsExpired { all.removeAll { $0.isExpired(at: now) } }
        let neighbors = all.indices.filter { all[$0].domain == new.domain }
        if neighbors.count > Self.maximumPerDomain { Self.removeOne(of: neighbors, from: &all) }
        if all.count > Self.maximumCount { Self.removeOne(of: Array(all.indices), from: &all) }
        cookies[space] = all
    }

    /// Removes the cookie that was unused for the longest time, and `Secure` cookies only after all others.
    private static func removeOne(of indices: [Int], from cookies: inout [Cookie]) {
        let worst = indices.min {
            let (first, second) = (cookies[$0], cookies[$1])
            return first.isSecure == second.isSecure ? first.lastUse < second.lastUse : !first.isSecure
        }
        if let worst { cookies.remove(at: worst) }
    }

    /// Whether an unencrypted origin would replace a `Secure` cookie.
    func protects(from new: Cookie, at origin: Origin, in space: CookieSpace, at now: Duration) -> Bool {
        guard origin.isInsecure else { return false }
        return (cookies[space] ?? []).contains { old in
            old.isSecure && !old.isExpired(at: now) && old.name == new.name && Cookie.isPath(new.path, under: old.path)
                && (Cookie.isHost(old.domain, in: new.domain) || Cookie.isHost(new.domain, in: old.domain))
        }
    }

    /// The cookies for a request: longer paths first, then older cookies (section 5.4).
    mutating func find(_ spaces: [CookieSpace], for origin: Origin, path: String, at now: Duration) -> [Cookie] {
        var found: [Cookie] = []
        for space in spaces {
            guard var all = cookies[space], !all.isEmpty else { continue }
            if !space.keepsExpired { all.removeAll { $0.isExpired(at: now) } }
            for index in all.indices where all[index].matches(origin, path: path) {
                found.removeAll { $0.isSame(as: all[index]) }
                guard !all[index].isExpired(at: now) else { continue }
                uses += 1
                all[index].lastUse = uses
                found.append(all[index])
            }
            cookies[space] = all
        }
        return found.sorted {
            let (first, second) = ($0.path.utf8.count, $1.path.utf8.count)
            return first == second ? $0.number < $1.number : first > second
        }
    }
}
