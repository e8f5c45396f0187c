internal import HTTPTypes

/// Keeps responses in memory, and answers GET and HEAD calls from them by the rules of RFC 9111 for a private cache.
///
/// ```swift
/// config.cache = HTTPCache(maximumBytes: 8 << 20)
/// ```
///
/// - A response that the server declares fresh (`max-age`, `Expires`) is used without a request. Any other response
///   that has an `ETag` or a `Last-Modified` is used after the server has confirmed it with 304. The cache does not
///   guess a lifetime.
/// - A response is used only in the sign-in state in which its call was made, even if the call carried no token, and
///   only for requests with the same cookies and sensitive header fields. A sign-in, a sign-out or an expiry ends that
///   state and removes its responses.
/// - A call that writes removes the stored responses for its URL and for the URL that it is redirected to, unless the
///   server responds with a 4xx or 5xx without a redirect.
/// - A request controls the cache with its own `Cache-Control` (RFC 9111, section 5.2.1): `no-cache` asks the server,
///   `no-store` stores nothing, and `only-if-cached` sends no request. With `stale-if-error`, in a request or a
///   response, a stale response replaces a failure (RFC 5861). If the request has `no-cache`, `stale-if-error` in a
///   response is ignored.
///
/// `send`, `response` and `data` use the cache for a GET or HEAD without a body. Downloads, streams and calls with a
/// ``TransferMonitor`` do not, so they always fail with `only-if-cached`. The cache stores only responses with status
/// 200, 203, 204, 404 or 410, and none that follows a redirect or answers a request with conditions of its own. Nothing
/// is written to disk.
///
/// A cached response still needs a valid session: the call waits for its token first. The response has an `Age` field.
public final class HTTPCache: Sendable {
    private let store: Locked<CacheStore>
    /// Has a lock of its own, because it is read while the jar of the client is locked.
    private let emptied = Locked(0)

    /// Creates an empty cache.
    /// - Parameter maximumBytes: The memory for responses, approximately. The least recently used responses are removed
    ///   first. A response that needs more than a quarter of the memory is not stored.
    public init(maximumBytes: Int = 16 << 20) {
        self.store = Locked(CacheStore(maximumBytes: max(0, maximumBytes)))
    }

    /// The number of times the app has emptied the cache. The response to a call that was made before the last time is
    /// not stored.
    var timesEmptied: Int { emptied.withLock { $0 } }

    /// Removes all responses. Responses to calls that were made before are not stored.
    public func removeAll() {
        store.withLock { store in
            emptied.withLock { $0 += 1 }
            store.removeAll()
        }
    }

    func withStore<Value: Sendable>(_ body: (inout CacheStore) -> Value) -> Value {
        store.withLock { body(&$0) }
    }

    /// Removes the responses of earlier owners, and those of this one when its sign-in state ends.
    func begin(_ owner: ResponseOwner, of tokens: TokenManager?) {
        guard let tokens, withStore({ $0.begin(owner) }) else { return }
        tokens.onEnd(ofSignInStateOf: owner.state) { [weak self] in self?.withStore { $0.end(owner) } }
    }
}
