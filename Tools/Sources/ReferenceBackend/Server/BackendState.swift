import NIOConcurrencyHelpers

/// The state of a running backend that is shared by all its parts and kept in memory only.
final class BackendState: Sendable {
    /// The settings, the revocations and the counters.
    private struct Values {
        var settings: BackendSettings
        var epoch = 0
        var familiesRefusingAccess: Set<String> = []
        var counters = BackendCounters()
        var accessTokenHashes: Set<Int> = []
        var baseURL = ""
        /// The IDs of the articles that were created with an idempotency key, by the user's ID and the key.
        var createdArticles: [[String]: String] = [:]
        /// Every token issued since ``rememberIssuedTokens()``; `nil` if it was not called.
        var issuedTokens: Set<String>?
    }

    private let values: NIOLockedValueBox<Values>

    init(settings: BackendSettings) {
        values = NIOLockedValueBox(Values(settings: settings))
    }

    var settings: BackendSettings { values.withLockedValue { $0.settings } }

    func updateSettings<Result>(_ change: (inout BackendSettings) throws -> Result) rethrows -> Result {
        try values.withLockedValue { try change(&$0.settings) }
    }

    var now: Timestamp { Timestamp.now(offsetBy: settings.dateOffset) }

    var baseURL: String {
        get { values.withLockedValue { $0.baseURL } }
        set { values.withLockedValue { $0.baseURL = newValue } }
    }

    var epoch: Int {
        get { values.withLockedValue { $0.epoch } }
        set { values.withLockedValue { $0.epoch = newValue } }
    }

    func beginEpoch() -> Int {
        values.withLockedValue { values in
            values.epoch += 1
            return values.epoch
        }
    }

    func refusesAccess(familyID: String) -> Bool {
        values.withLockedValue { $0.familiesRefusingAccess.contains(familyID) }
    }

    func refuseAccess(familyIDs: some Sequence<String>) {
        values.withLockedValue { $0.familiesRefusingAccess.formUnion(familyIDs) }
    }

    var counters: BackendCounters { values.withLockedValue { $0.counters } }

    func count(_ change: (inout BackendCounters) -> Void) {
        values.withLockedValue { change(&$0.counters) }
    }

    /// Counts a distinct access token by its hash, because tokens must not be kept after their request.
    func sawAccessToken(_ token: String) {
        values.withLockedValue { values in
            values.accessTokenHashes.insert(token.hashValue)
            values.counters.distinctAccessTokens = values.accessTokenHashes.count
        }
    }

    /// The article that a request with this key is for: the one of an earlier request, or else this new one.
    func article(_ newID: String, createdBy userID: String, withKey key: String) -> String {
        values.withLockedValue { values in
            let id = values.createdArticles[[userID, key]] ?? newID
            values.createdArticles[[userID, key]] = id
            return id
        }
    }

    func rememberIssuedTokens() {
        values.withLockedValue { $0.issuedTokens = $0.issuedTokens ?? [] }
    }

    var issuedTokens: Set<String> { values.withLockedValue { $0.issuedTokens ?? [] } }

    func issued(_ token: String) {
        values.withLockedValue { _ = $0.issuedTokens?.insert(token) }
    }

    func resetCounters() {
        values.withLockedValue { values in
            let open = values.counters.connectionsOpen
            values.counters = BackendCounters()
            values.counters.connectionsOpen = open
            values.accessTokenHashes = []
        }
    }
}
