import Logging

/// The parts of a backend, created from its configuration.
struct BackendCore: Sendable {
    let configuration: BackendConfiguration
    let rules: any DialectRules
    let store: Store
    let state: BackendState
    let sessions: Sessions
    let passwords: PasswordHasher
    let controls: BackendControls
    let openID: RunningOpenIDProvider?
    let logger: Logger

    init(_ configuration: BackendConfiguration) async throws {
        self.configuration = configuration
        logger = configuration.logger
        rules = configuration.dialect.rules(isTLS: configuration.tls != .none)
        store = try Store(configuration.database)
        state = BackendState(settings: BackendSettings(configuration))
        state.epoch = try store.epoch()
        state.refuseAccess(familyIDs: try store.familiesRefusingAccess())
        let accessTokens = try await AccessTokens(store: store, state: state)
        sessions = Sessions(store: store, state: state, accessTokens: accessTokens, logger: logger)
        openID = try configuration.openID.map { try RunningOpenIDProvider($0) }
        passwords = PasswordHasher(cost: configuration.passwordHashing)
        controls = BackendControls(
            state: state, store: store, sessions: sessions, faultQueue: FaultQueue(), requestGates: RequestGates(),
            arrivals: RequestLog(), responses: RequestLog(), hangs: HangingRequests())
    }

    func routes() -> RouteTable {
        var table = RouteTable()
        addSessionRoutes(to: &table)
        addGuestRoutes(to: &table)
        if configuration.dialect == .oauth2 || openID != nil { addOAuthRoutes(to: &table) }
        if let openID { addOpenIDRoutes(of: openID, to: &table) }
        addProfileRoutes(to: &table)
        addArticleRoutes(to: &table)
        addFileRoutes(to: &table)
        addSessionContentRoutes(to: &table)
        addUploadRoutes(to: &table)
        if configuration.hostileControls {
            addControlRoutes(to: &table)
            addTransportRoutes(to: &table)
        }
        let list = table.list
        table.add("GET", "/", kind: .management) { _ in .text(list, contentType: "text/plain; charset=utf-8") }
        return table
    }
}
