internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A request, as the cache sees it.
struct CacheRequest: Sendable {
    let method: HTTPRequest.Method
    let url: String
    /// The header fields, with the cookies and without the session's own token.
    let fields: HTTPFields
    let partition: CachePartition
    let control: CacheControl

    /// The target of a request as the cache names it. `Host` is a part of it if the endpoint sets it (RFC 9110, section
    /// 7.1).
    static func url(of request: HTTPRequest, at origin: Origin) -> String {
        let host = request.headerFields.first { $0.name.canonicalName == "host" }.map { " \($0.value)" } ?? ""
        return "\(origin)\(request.path ?? "/")\(host)"
    }

    /// Whether the request selects a stored response.
    func selects(_ response: CachedResponse) -> Bool {
        response.partition == partition && response.matches(fields)
    }
}

/// One attempt's use of the cache: the attempt may ask the server about a stored response, store the new one, or remove
/// responses that it has invalidated.
final class CacheTicket: Sendable {
    /// The stored response that the request selects. If it is stale, the server is asked about it.
    let stored: CachedResponse?
    let mayStore: Bool
    private let cache: HTTPCache
    private let responseStorage: ResponseStorage
    private let request: CacheRequest
    private let invalidations: Int
    private let time: any TimeSource
    private let requestedAt: Duration
    /// The change that the response makes to the cache if the call accepts it.
    private let effect = Locked(Effect.none)

    private enum Effect {
        case none
        case storing(CachedResponse)
        /// The response must not be stored, and the response that it replaces is outdated.
        case removing
    }

    init(_ cache: HTTPCache, _ responseStorage: ResponseStorage, for request: CacheRequest, time: any TimeSource) {
        self.cache = cache
        self.responseStorage = responseStorage
        self.request = request
        self.mayStore = request.method == .get && !request.control.contains("no-store")
        self.time = time
        self.requestedAt = time.uptime
        (self.stored, self.invalidations) = cache.withStore { store in
            (request.method.isGetOrHead ? store.find(request.url, request.selects) : nil, store.invalidations)
        }
    }

    func freshResponse() -> ServerResponse? {
        let now = time.uptime
        guard let stored, stored.isFresh(for: request.control, at: now) else { return nil }
        return stored.response(at: now, hasBody: request.method != .head)
    }

    /// The stored response, if it may be used although the server has failed. It is not used if its owner has ended
    /// while the server was asked.
    func staleResponse() -> ServerResponse? {
        let now = time.uptime
        guard let stored, stored.mayReplaceError(for: request.control, at: now),
            responseStorage.isCurrent(request.partition.owner)
        else { return nil }
        return stored.response(at: now)
    }

    /// The response for the call. After a 304 to our conditional request, this is the stored response with updated
    /// header fields.
    func resolve(_ response: ServerResponse, isRedirected: Bool, isConditional: Bool) -> ServerResponse {
        guard mayStore, !isRedirected else { return response }
        let isConfirmed = isConditional && response.status == 304
        let resolved = isConfirmed ? stored?.updated(by: response.head) ?? response : response
        let timing = CachedResponse.Timing(requestedAt: requestedAt, receivedAt: time.uptime, date: time.wallClock)
        let new = CachedResponse(resolved, to: request.fields, request.partition, timing)
        effect.withLock { $0 = new.map(Effect.storing) ?? .removing }
        return isConfirmed ? new?.response(at: timing.receivedAt) ?? resolved : resolved
    }

    /// Stores the response after the call has accepted it. Does nothing if its owner has ended since the call was made,
    /// or if stored responses were removed since the request was sent.
    func store() {
        let effect = effect.withLock { $0 }
        if case .none = effect { return }
        cache.withStore { store in
            guard store.invalidations == invalidations, responseStorage.isCurrent(request.partition.owner) else {
                return
            }
            if case .storing(let new) = effect {
                let newer = store.find(request.url) {
                    request.selects($0) && $0.isNewer(than: new, requestedAt: requestedAt)
                }
                if newer == nil { store.insert(new, for: request.url, replacing: request.selects) }
            } else {
                store.remove(request.url, where: request.selects)
            }
        }
    }

    /// Removes the stored response if the call has rejected the new one because the resource is gone.
    func removeIfGone(_ status: Int) {
        guard mayStore, status == 404 || status == 410 else { return }
        cache.withStore { store in store.remove(request.url, where: request.selects) }
    }

    /// Removes the stored responses for the URL, because the server no longer recognizes the one that it was asked
    /// about.
    func discard() {
        cache.withStore { store in store.remove(request.url) { $0.partition == request.partition } }
    }

    /// Removes the responses that a writing request may have changed.
    func invalidate(redirectedTo target: String?) {
        cache.withStore { store in
            store.invalidate(request.url)
            if let target { store.invalidate(target) }
        }
    }
}
