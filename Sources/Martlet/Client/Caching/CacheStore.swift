/// The stored responses of a cache.
struct CacheStore {
    private static let maximumVariants = 16

    private let maximumBytes: Int
    private var responses: [String: [CachedResponse]] = [:]
    private var bytes = 0
    private var uses = 0
    /// How often responses were removed because they may be wrong. A response that was requested before is not stored.
    private(set) var removals = 0
    /// The sessions whose end empties the cache.
    private var sessions: Set<SessionID> = []

    var isEmpty: Bool { responses.isEmpty && bytes == 0 }

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Makes a session known.
    /// - Returns: Whether it is new.
    mutating func follow(_ session: SessionID) -> Bool { sessions.insert(session).inserted }

    /// The stored response that a request selects.
    mutating func find(_ url: String, _ isMatch: (CachedResponse) -> Bool) -> CachedResponse? {
        guard let index = responses[url]?.lastIndex(where: isMatch) else { return nil }
        uses += 1
        responses[url]?[index].lastUse = uses
        return responses[url]?[index]
    }

    /// Stores a response in place of the one that the same request selects.
    mutating func insert(_ new: CachedResponse, for url: String, replacing isMatch: (CachedResponse) -> Bool) {
        remove(url, where: isMatch)
        let size = new.size + url.utf8.count
        // One large response must not displace all others.
        guard size <= maximumBytes / 4 else { return }
        uses += 1
        var new = new
        new.lastUse = uses
        if let variants = responses[url], variants.count >= Self.maximumVariants,
            let oldest = variants.map(\.lastUse).min()
        {
            remove(url) { $0.lastUse == oldest }
        }
        responses[url, default: []].append(new)
        bytes += size
        if bytes > maximumBytes { evict() }
    }

    /// Removes all responses for a URL, because a request may have changed what is there (RFC 9111, section 4.4).
    mutating func invalidate(_ url: String) {
        removals += 1
        remove(url) { _ in true }
    }

    /// Removes the responses of a session that has ended, and those that belong to no session.
    mutating func end(_ session: SessionID) {
        sessions.remove(session)
        removals += 1
        for url in responses.keys {
            remove(url) { $0.partition.session == session || $0.partition.session == nil }
        }
    }

    mutating func removeAll() {
        removals += 1
        (responses, bytes) = ([:], 0)
    }

    mutating func remove(_ url: String, where isMatch: (CachedResponse) -> Bool) {
        guard let variants = responses[url] else { return }
        let kept = variants.filter { !isMatch($0) }
        bytes -= (variants.count - kept.count) * url.utf8.count
        bytes -= variants.reduce(0) { $0 + $1.size } - kept.reduce(0) { $0 + $1.size }
        responses[url] = kept.isEmpty ? nil : kept
    }

    /// Makes room for a while, so that not every response that is stored sorts all others.
    private mutating func evict() {
        let oldest = responses.flatMap { url, variants in variants.map { (url, $0.lastUse) } }.sorted { $0.1 < $1.1 }
        for (url, lastUse) in oldest where bytes > maximumBytes / 8 * 7 {
            remove(url) { $0.lastUse == lastUse }
        }
    }
}
