import Foundation

@testable import Martlet
@testable import MartletStorage

/// An in-memory Keychain for one process, which follows Apple's documentation of visibility, locking and status codes.
///
/// - https://developer.apple.com/documentation/security/secitemadd(_:_:)
/// - https://developer.apple.com/documentation/security/errsecduplicateitem: an item is identified by its access group,
///   service and account, and by whether it is synchronizable.
/// - https://developer.apple.com/documentation/security/ksecattrsynchronizable: a query finds synchronizable items only
///   if it asks for them.
/// - https://developer.apple.com/documentation/security/restricting-keychain-item-accessibility
/// - https://developer.apple.com/documentation/security/sharing-access-to-keychain-items-among-a-collection-of-apps: an
///   item without an access group goes to the first group.
/// - https://developer.apple.com/documentation/localauthentication/lacontext/evaluatepolicy(_:localizedreason:reply:)
/// - https://developer.apple.com/documentation/localauthentication/lacontext/evaluatedpolicydomainstate
/// - https://developer.apple.com/library/archive/technotes/tn2206/_index.html: the login keychain lets a program use an
///   item of another one only if the user allows it, and knows programs by their signature.
final class FakeKeychain: Sendable {
    /// Whether the device is locked.
    enum Device {
        case notYetUnlocked, locked, unlocked
    }

    /// The user's response to an authentication prompt.
    enum User {
        case confirms, declines, isNotRecognized
    }

    /// A generic password in the Keychain.
    struct Item: Equatable {
        var isLogin: Bool
        var accessGroup: String
        var service: String
        var account: String
        var data: Data
        var generic: Data?
        var accessible: KeychainAccessibility
        var requirement: KeychainAuthentication.Requirement?
        var isSynchronizable = false
        var comment: String?
        /// The build that has added an item of the login keychain.
        var creator: String?
    }

    /// The items, the device and its user, and the calls received so far.
    struct State {
        var items: [Item] = []
        var device = Device.unlocked
        var user = User.confirms
        /// The access groups of the process's entitlements. Empty if the process is not signed for the Keychain.
        var groups = ["TEAM.com.example.app"]
        /// Whether protected items appear to be missing.
        var hidesProtected = false
        /// The reasons shown in authentication prompts.
        var prompts: [String] = []
        /// The enrolled faces and fingerprints; `nil` while the system does not report them.
        var biometry: String? = "face-1"
        /// The signature of the running program.
        var build = "build 1"
        var calls: [String] = []
        /// Overrides the status of the next calls with a given name.
        var responses: [(call: String, status: KeychainStatus)] = []
        fileprivate var recognized: Set<KeychainAuthenticationContext> = []
    }

    private let guarded = Locked(State())

    func change(_ body: (inout State) -> Void) {
        guarded.withLock { state in body(&state) }
    }

    var state: State { guarded.withLock { $0 } }

    /// The four Keychain functions of a process that shares this Keychain.
    var calls: KeychainCalls {
        KeychainCalls(
            add: { attributes in self.perform("add") { state throws(KeychainStatus) in try state.add(attributes) } },
            copyMatching: { query in
                var found: [KeychainAttributes] = []
                let status = self.perform("copy") { state throws(KeychainStatus) in found = try state.copy(query) }
                return status == .success ? .success(found) : .failure(status)
            },
            update: { query, changes in
                self.perform("update") { state throws(KeychainStatus) in try state.update(query, changes) }
            },
            delete: { query in self.perform("delete") { state throws(KeychainStatus) in try state.delete(query) } },
            authenticate: { requirement, reason in
                self.perform("authenticate") { state throws(KeychainStatus) in
                    try state.authenticate(requirement, reason)
                }
            },
            enrolledBiometry: { self.state.biometry })
    }

    private func perform(_ name: String, _ body: (inout State) throws(KeychainStatus) -> Void) -> KeychainStatus {
        guarded.withLock { state in
            state.calls.append(name)
            if let index = state.responses.firstIndex(where: { $0.call == name }) {
                return state.responses.remove(at: index).status
            }
            do throws(KeychainStatus) {
                try body(&state)
                return .success
            } catch {
                return error
            }
        }
    }
}

extension FakeKeychain.State {
    private static let identifiers: Set<KeychainKey> = [
        .service, .account, .accessGroup, .useDataProtection, .generic, .synchronizable,
    ]
    private static let contents: Set<KeychainKey> = [.data, .generic, .label, .comment, .accessible, .accessControl]
    private static let results: Set<KeychainKey> = [.returnData, .returnAttributes, .matchLimit]

    fileprivate mutating func add(_ attributes: KeychainAttributes) throws(KeychainStatus) {
        try require(attributes, Self.identifiers.union(Self.contents))
        let isLogin = try isLogin(attributes)
        guard attributes[.synchronizable] != .either else { throw .parameter }
        guard let service = attributes[text: .service], let account = attributes[text: .account],
            let data = attributes[bytes: .data]
        else { throw .parameter }
        var item = FakeKeychain.Item(
            isLogin: isLogin, accessGroup: attributes[text: .accessGroup] ?? groups.first ?? "", service: service,
            account: account, data: data, accessible: .whenUnlocked,
            isSynchronizable: attributes[.synchronizable] == .flag(true))
        if isLogin { item.creator = build }
        try item.change(attributes)
        guard canUse(item) else { throw .interactionNotAllowed }
        guard !items.contains(where: { $0.isSame(item) }) else { throw .duplicateItem }
        items.append(item)
    }

    fileprivate mutating func copy(_ query: KeychainAttributes) throws(KeychainStatus) -> [KeychainAttributes] {
        try require(query, Self.identifiers.union(Self.results).union([.accessible, .authenticationContext]))
        var found = try indices(query)
        guard !found.isEmpty else { throw .itemNotFound }
        if query[.matchLimit] != .limit(.all) { found = [found[0]] }
        let wantsData = query[.returnData] == .flag(true)
        var responses: [KeychainAttributes] = []
        for index in found {
            let item = items[index]
            if wantsData {
                guard canUse(item) else { throw .interactionNotAllowed }
                try confirm(item, query)
            } else if !item.isLogin, device == .notYetUnlocked {
                throw .interactionNotAllowed
            }
            var response: KeychainAttributes = [.service: .text(item.service), .account: .text(item.account)]
            response[bytes: .generic] = item.generic
            response[text: .comment] = item.comment
            if !item.isLogin {
                response[text: .accessGroup] = item.accessGroup
                if item.requirement == nil { response[.accessible] = .accessible(item.accessible) }
            }
            if wantsData { response[bytes: .data] = item.data }
            responses.append(response)
        }
        return responses
    }

    fileprivate mutating func update(
        _ query: KeychainAttributes, _ changes: KeychainAttributes
    ) throws(KeychainStatus) {
        try require(query, Self.identifiers.union([.accessible, .authenticationContext]))
        try require(changes, Self.contents)
        let found = try indices(query)
        guard !found.isEmpty else { throw .itemNotFound }
        for index in found {
            var item = items[index]
            guard canUse(item) else { throw .interactionNotAllowed }
            try confirm(item, query)
            try item.change(changes)
            guard canUse(item) else { throw .interactionNotAllowed }
            items[index] = item
        }
    }

    fileprivate mutating func delete(_ query: KeychainAttributes) throws(KeychainStatus) {
        try require(query, Self.identifiers.union([.accessible]))
        let found = try indices(query)
        guard !found.isEmpty else { throw .itemNotFound }
        for index in found.reversed() { items.remove(at: index) }
    }

    private func require(_ attributes: KeychainAttributes, _ known: Set<KeychainKey>) throws(KeychainStatus) {
        guard known.isSuperset(of: attributes.keys) else { throw .parameter }
    }

    private func isLogin(_ query: KeychainAttributes) throws(KeychainStatus) -> Bool {
        guard query[.useDataProtection] == .flag(true) else {
            guard query[.synchronizable] == nil else { throw .parameter }
            return true
        }
        guard !groups.isEmpty else { throw .missingEntitlement }
        if let group = query[text: .accessGroup], !groups.contains(group) { throw .missingEntitlement }
        return false
    }

    private func indices(_ query: KeychainAttributes) throws(KeychainStatus) -> [Int] {
        let isLogin = try isLogin(query)
        return items.indices.filter { index in
            let item = items[index]
            let isWanted =
                item.isLogin == isLogin && (isLogin || groups.contains(item.accessGroup))
                && (query[.synchronizable] ?? .flag(false)).matches(item.isSynchronizable)
                && (query[text: .service] ?? item.service) == item.service
                && (query[text: .account] ?? item.account) == item.account
                && (query[text: .accessGroup] ?? item.accessGroup) == item.accessGroup
                && (query[bytes: .generic] ?? item.generic) == item.generic
                && (query[.accessible] ?? .accessible(item.accessible)) == .accessible(item.accessible)
            return isWanted && !(hidesProtected && !canUse(item))
        }
    }

    private func canUse(_ item: FakeKeychain.Item) -> Bool {
        if item.isLogin { return true }
        return switch item.accessible {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: device != .notYetUnlocked
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: device == .unlocked
        }
    }

    private mutating func confirm(
        _ item: FakeKeychain.Item, _ query: KeychainAttributes
    ) throws(KeychainStatus) {
        if item.isLogin {
            if item.creator != build { try ask("The login keychain: let \(build) use the item?") }
            return
        }
        guard item.requirement != nil else { return }
        var known: KeychainAuthenticationContext?
        if case .authenticationContext(let context)? = query[.authenticationContext] { known = context }
        if let known, recognized.contains(known) { return }
        try ask(known?.reason ?? "")
        if let known { recognized.insert(known) }
    }

    /// Evaluates a policy of Local Authentication. The system raises an exception without a reason.
    fileprivate mutating func authenticate(
        _ requirement: KeychainAuthentication.Requirement, _ reason: String
    ) throws(KeychainStatus) {
        guard !reason.isEmpty else { throw .parameter }
        try ask(reason)
    }

    private mutating func ask(_ reason: String) throws(KeychainStatus) {
        guard device == .unlocked else { throw .interactionNotAllowed }
        prompts.append(reason)
        switch user {
        case .confirms: break
        case .declines: throw .userCanceled
        case .isNotRecognized: throw .authenticationFailed
        }
    }
}

extension FakeKeychain.Item {
    fileprivate func isSame(_ other: Self) -> Bool {
        isLogin == other.isLogin && accessGroup == other.accessGroup && service == other.service
            && account == other.account && isSynchronizable == other.isSynchronizable
    }

    fileprivate mutating func change(_ attributes: KeychainAttributes) throws(KeychainStatus) {
        // The login keychain supports neither attribute, and they exclude each other.
        let protections = [attributes[.accessible], attributes[.accessControl]].compactMap(\.self)
        guard protections.count <= (isLogin ? 0 : 1) else { throw .parameter }
        if let data = attributes[bytes: .data] { self.data = data }
        if let generic = attributes[bytes: .generic] { self.generic = generic }
        if let comment = attributes[text: .comment] { self.comment = comment }
        switch protections.first {
        case .accessible(let accessible)?: (self.accessible, requirement) = (accessible, nil)
        case .accessControl(let accessible, let requirement)?:
            (self.accessible, self.requirement) = (accessible, requirement)
        default: break
        }
    }
}

extension KeychainValue {
    fileprivate func matches(_ isSynchronizable: Bool) -> Bool {
        self == .either || self == .flag(isSynchronizable)
    }
}
