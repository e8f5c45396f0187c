/// The stored responses of a cache.
struct CacheStore {
    private static let maximumVariants = 16

    private let maximumBytes: Int
    private var responses: [String: [CachedResponse]] = [:]
    private var bytes = 0
    private var uses = 0
    /// The number of invalidations: writes, ended owners and `removeAll()`. A response that was requested before the
    /// latest invalidation is not stored.
    private(set) var invalidations = 0
    /// The sign-in state of each manager whose responses are stored.
    private var owners: [Int?: CallOwner] = [:]

    var isEmpty: Bool { responses.isEmpty && bytes == 0 }

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Records the current owner of a manager's responses, and removes the responses of earlier owners.
    /// - Returns: Whether the owner is new.
    mutating func begin(_ owner: ResponseOwner) -> Bool {
        if let known = owners[owner.manager], known == owner.state || known.epoch > owner.state.epoch { return false }
        owners[owner.manager] = owner.state
        removeAll { $0.manager == owner.manager && $0.state.epoch < owner.state.epoch }
        return true
    }

    /// The stored response that a request selects.
    mutating func find(_ url: String, _ isMatch: (CachedResponse) -> Bool) -> CachedResponse? {
        guard let index = responses[url]?.lastIndex(where: isMatch) else { return nil }
        uses += 1
        responses[url]?[index].noteUse(uses)
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
        new.noteUse(uses)
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
        invalidations += 1
        remove(url) { _ in true }
    }

    mutating func end(_ owner: ResponseOwner) {
        invalidations += 1
        removeAll { $0.manager == owner.manager && $0.state.epoch <= owner.state.epoch }
    }

    private mutating func removeAll(where isOver: (ResponseOwner) -> Bool) {
        for url in responses.keys { remove(url) { isOver($0.partition.owner) } }
    }

    mutating func removeAll() {
        invalidations += 1
        (responses, bytes) = ([:], 0)
    }

    mutating func remove(_ url: String, where isMatch: (CachedResponse) -> Bool) {
        guard let variants = responses[url] else { return }
        keep(variants.filter { !isMatch($0) }, of: variants, for: url)
    }

    /// Kept out of ``remove(_:where:)``, which the compiler specializes for each closure.
    private mutating func keep(_ kept: [CachedResponse], of variants: [CachedResponse], for url: String) {
        bytes -= (variants.count - kept.count) * url.utf8.count
        bytes -= variants.reduce(0) { $0 + $1.size } - kept.reduce(0) { $0 + $1.size }
        responses[url] = kept.isEmpty ? nil : kept
    }

    /// Evicts down to seven eighths of the limit, so that the next insertions need no sorting.
    private mutating func evict() {
        let oldest = responses.flatMap { url, variants in variants.map { (url, $0.lastUse) } }.sorted { $0.1 < $1.1 }
        for (url, lastUse) in oldest where bytes > maximumBytes / 8 * 7 {
            remove(url) { $0.lastUse == lastUse }
        }
    }
}
