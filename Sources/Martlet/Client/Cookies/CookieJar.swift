internal import HTTPTypes

/// Keeps the cookies of a session in memory, following the rules of RFC 6265.
///
/// ```swift
/// config.cookies = CookieJar()
/// ```
///
/// All calls of the client use the jar: typed calls, downloads, uploads and event streams, and each request of a
/// redirect. Requests to the token endpoint do not, and a TRACE gets no cookies from the jar. A cookie that the
/// endpoint or an interceptor sets itself takes precedence over the jar's cookie of the same name.
///
/// - Each session has cookies of its own. They are removed when it ends: at sign-out, when the server ends the session,
///   or when another user signs in. A response that arrives later sets no cookies.
/// - Cookies of calls that are made before a sign-in belong to the session that the sign-in starts. A sign-in while
///   another session is current does not change that session's cookies, and sends them only if its endpoint requires a
///   token.
/// - The cookie with the refresh token (``TokenRefresher/cookie(path:cookie:sessionEnd:)``) is not kept here, but in the
///   session's record.
/// - `Domain`, `Path`, `Secure`, `Max-Age`, `Expires` and the prefixes `__Host-` and `__Secure-` are respected.
///   `Secure` cookies also go to this machine over `http`. No cookie lasts longer than 400 days.
/// - There is no list of public suffixes: a domain without a dot is refused, but `co.uk` is not. `SameSite` and
///   `Partitioned` have no meaning without pages, and are ignored.
///
/// Nothing is written to disk. Without a jar, the client keeps no cookies.
public final class CookieJar: Sendable {
    private let store = Locked(CookieStore())
    /// Has a lock of its own, because it is read while the cache of the client is locked.
    private let emptied = Locked(0)

    /// Creates an empty jar.
    public init() {}

    /// The number of times the jar was emptied. A call that was made before the latest removal neither sends nor sets
    /// cookies.
    var timesEmptied: Int { emptied.withLock { $0 } }

    /// Removes all cookies. Call it when the user of a client without a ``TokenManager`` signs out. Calls under way
    /// then neither send nor set cookies, and downloads under way that belong to no user keep no bytes if they break
    /// off.
    public func removeAll() {
        store.withLock { store in
            emptied.withLock { $0 += 1 }
            store.removeAll()
        }
    }

    func withStore<Value: Sendable>(_ body: (inout CookieStore) -> Value) -> Value {
        store.withLock { body(&$0) }
    }
}

/// The cookies that a sign-in receives. They go to the session that the sign-in starts. If it starts none, they are
/// removed.
final class SignInCookies: Sendable {
    private let jar: CookieJar
    fileprivate let number: Int
    private let session = Locked<SessionID?>(nil)

    init(_ jar: CookieJar) {
        self.jar = jar
        number = jar.withStore { $0.makeSignIn() }
    }

    deinit {
        let session = session.withLock { $0 }
        jar.withStore { $0.forget(signIn: number, of: session) }
    }

    /// Gives the cookies to the session that is about to start.
    func prepare(_ session: SessionID) {
        self.session.withLock { $0 = session }
        jar.withStore { $0.move(signIn: number, to: session) }
    }
}

/// One call's access to a jar.
final class CallCookies: Sendable {
    private let jar: CookieJar
    private let responseStorage: ResponseStorage
    private let time: any TimeSource
    private let owner: ResponseOwner
    /// The cookies of a sign-in; `nil` for any other call.
    let signIn: SignInCookies?
    private let spaces: (read: [CookieSpace], write: CookieSpace)

    /// - Parameters:
    ///   - owner: The owner of the cookies.
    ///   - signIn: The cookies of a sign-in; `nil` for any other call.
    ///   - carriesToken: Whether the call may carry a token.
    init(
        _ jar: CookieJar, _ responseStorage: ResponseStorage, _ owner: ResponseOwner, time: any TimeSource,
        signIn: SignInCookies? = nil, carriesToken: Bool = true
    ) {
        self.jar = jar
        self.responseStorage = responseStorage
        self.owner = owner
        self.signIn = signIn
        self.time = time
        let (manager, epoch) = (owner.manager, owner.state.epoch)
        let space = CookieSpace(owner)
        // The store may contain a session, or another process may start one. That session must not get the cookies of a
        // sign-in.
        spaces =
            signIn.map { signIn in
                let own = CookieSpace.signIn(signIn.number)
                return (carriesToken || owner.state.session == nil ? [space, own] : [own], own)
            } ?? ([space], space)
        guard let session = owner.state.session, let tokens = responseStorage.tokens else {
            if owner.state.signInState == .signedOut { jar.withStore { $0.settle(manager, epoch: epoch) } }
            return
        }
        // A session that has already ended must not get the cookies of earlier calls.
        let follower = jar.withStore { store in
            responseStorage.isCurrent(owner) ? store.begin(session, of: manager, epoch: epoch) : nil
        }
        guard let follower else { return }
        tokens.onEnd(ofSignInStateOf: owner.state) { [weak jar] in
            withExtendedLifetime(follower) { jar?.withStore { $0.end(session, of: manager, epoch: epoch) } }
        }
    }

    /// Whether the call's session is unknown, because the store had not been read when the call was made.
    var isOwnerUnknown: Bool { owner.state.signInState == .unknown }

    /// The request with the cookies that were read for it earlier, unless their owner has ended since.
    /// - Parameter field: The `Cookie` field with these cookies; `nil` for none.
    func adding(_ field: String?, to request: HTTPRequest) -> HTTPRequest {
        guard let field, jar.withStore({ _ in isCurrent }) else { return request }
        var request = request
        request.headerFields.setSensitive(field, for: .cookie)
        return request
    }

    /// The request with the jar's cookies. The response to a TRACE would repeat them (RFC 9110, section 9.3.8).
    func adding(to request: HTTPRequest, at origin: Origin) -> HTTPRequest {
        guard request.method != .trace else { return request }
        let cookies = jar.withStore { [spaces, now = time.uptime] store in
            isCurrent ? store.find(spaces.read, for: origin, path: request.pathWithoutQuery, at: now) : []
        }
        let own = (request.headerFields[.cookie] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        let names = Set(own.map { $0.prefix { $0 != "=" } })
        let added = cookies.filter { !names.contains($0.name[...]) }.map { "\($0.name)=\($0.value.reveal())" }
        guard !added.isEmpty else { return request }
        var request = request
        request.headerFields.setSensitive((own.map(String.init) + added).joined(separator: "; "), for: .cookie)
        return request
    }

    /// Stores the cookies of a response, unless its session has ended.
    func receive(_ head: HTTPResponse, to request: HTTPRequest, from origin: Origin) {
        let fields = head.headerFields[values: .setCookie]
        guard !fields.isEmpty else { return }
        let moment = CookieMoment(time)
        // Only the token endpoint gets the refresh token.
        let ofRefresher = (responseStorage.tokens?.refresher as? HTTPTokenRefresher)?.refreshCookie
        let cookies = fields.compactMap {
            Cookie($0[...], from: origin, path: request.pathWithoutQuery, at: moment)
        }.filter { $0.name != ofRefresher }
        jar.withStore { [spaces] store in
            // Check while the jar is locked: the end of the session, which removes its cookies, must not come in
            // between.
            guard isCurrent else { return }
            let (space, now) = (spaces.write, moment.uptime)
            for cookie in cookies where !store.protects(from: cookie, at: origin, in: space, at: now) {
                store.insert(cookie, in: space, at: now)
            }
        }
    }

    /// Whether the owner of the call is still current.
    private var isCurrent: Bool {
        guard signIn != nil, let tokens = responseStorage.tokens else { return responseStorage.isCurrent(owner) }
        // A session that expires during a sign-in does not end the sign-in, which has cookies of its own.
        return owner.timesEmptied == responseStorage.timesEmptied && tokens.acceptsSignIn(since: owner.state.epoch)
    }
}

extension HTTPRequest {
    fileprivate var pathWithoutQuery: String {
        let path = (path ?? "/").prefix { $0 != "?" }
        return path.isEmpty ? "/" : String(path)
    }
}

extension CallPipeline {
    /// Gives the cookies of a sign-in to the session that it has started.
    func giveCookies(of signIn: SignInCookies?, to tokens: TokenManager) {
        guard signIn != nil, let jar = config.cookies, let owner = responseOwner(for: tokens.currentOwner) else {
            return
        }
        _ = CallCookies(jar, responseStorage, owner, time: time)
    }

    /// A call's access to the client's jar; `nil` without a jar.
    func cookies(of call: CallState, signIn: SignInCookies? = nil) -> CallCookies? {
        guard let jar = config.cookies, let owner = call.responseOwner else { return nil }
        return CallCookies(
            jar, responseStorage, resolved(owner, for: call), time: time, signIn: signIn,
            carriesToken: call.authorization.requirement != .none)
    }
}
