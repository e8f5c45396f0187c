import NIOConcurrencyHelpers

/// What a running backend keeps in memory and every part of it may look at.
final class BackendState: Sendable {
    private struct Values {
        var settings: BackendSettings
        var epoch = 0
        var familiesRefusingAccess: Set<String> = []
        var counters = BackendCounters()
        var accessTokenHashes: Set<Int> = []
        var baseURL = ""
        /// Every token that was issued; `nil` where nobody has asked for them to be kept.
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

    /// Notes that a resource was asked for with a token, by its hash: the token itself must not outlive the request.
    func sawAccessToken(_ token: String) {
        values.withLockedValue { values in
            values.accessTokenHashes.insert(token.hashValue)
            values.counters.distinctAccessTokens = values.accessTokenHashes.count
        }
    }

    /// Keeps what is issued from now on, for tests that look for it where it must not be.
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
