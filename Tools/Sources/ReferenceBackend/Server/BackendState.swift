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

    func resetCounters() {
        values.withLockedValue { values in
            let open = values.counters.connectionsOpen
            values.counters = BackendCounters()
            values.counters.connectionsOpen = open
            values.accessTokenHashes = []
        }
    }
}
