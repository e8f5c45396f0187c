import Foundation

@testable import Martlet

/// Keychain services as Apple documents them, for one process: what it may see, when, and what they answer.
///
/// - https://developer.apple.com/documentation/security/secitemadd(_:_:)
/// - https://developer.apple.com/documentation/security/errsecduplicateitem: an item is the same by its access group,
///   service and account.
/// - https://developer.apple.com/documentation/security/restricting-keychain-item-accessibility
/// - https://developer.apple.com/documentation/security/sharing-access-to-keychain-items-among-a-collection-of-apps: the
///   first group is where items go that name none.
final class FakeKeychain: Sendable {
    enum Device {
        case notYetUnlocked, locked, unlocked
    }

    enum Person {
        case confirms, declines, isNotRecognised
    }

    struct Item: Equatable {
        var isLogin: Bool
        var accessGroup: String
        var service: String
        var account: String
        var data: Data
        var generic: Data?
        var accessible: KeychainAccessibility
        var requirement: KeychainAuthentication.Requirement?
    }

    struct State {
        var items: [Item] = []
        var device = Device.unlocked
        var person = Person.confirms
        /// The access groups that the process is signed for; none where it is not signed for the Keychain at all.
        var groups = ["TEAM.com.example.app"]
        /// Whether what is protected looks as if it were not there.
        var hidesProtected = false
        /// Those who were asked to confirm who they are.
        var prompts: [String] = []
        /// The names of all calls.
        var calls: [String] = []
        /// Answers for the next calls of a name, in place of what would be true.
        var answers: [(call: String, status: KeychainStatus)] = []
        fileprivate var recognised: Set<KeychainAuthenticationContext> = []
    }

    private let guarded = Locked(State())

    func change(_ body: (inout State) -> Void) {
        guarded.withLock { state in body(&state) }
    }

    var state: State { guarded.withLock { $0 } }

    /// The four calls of a process that shares this Keychain.
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
            delete: { query in self.perform("delete") { state throws(KeychainStatus) in try state.delete(query) } })
    }

    private func perform(_ name: String, _ body: (inout State) throws(KeychainStatus) -> Void) -> KeychainStatus {
        guarded.withLock { state in
            state.calls.append(name)
            if let index = state.answers.firstIndex(where: { $0.call == name }) {
                return state.answers.remove(at: index).status
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
    private static let places: Set<KeychainKey> = [.service, .account, .accessGroup, .useDataProtection, .generic]
    private static let contents: Set<KeychainKey> = [.data, .generic, .label, .accessible, .accessControl]
    private static let results: Set<KeychainKey> = [.returnData, .returnAttributes, .matchLimit]

    fileprivate mutating func add(_ attributes: KeychainAttributes) throws(KeychainStatus) {
        try demand(attributes, Self.places.union(Self.contents))
        let isLogin = try isLogin(attributes)
        guard let service = attributes[text: .service], let account = attributes[text: .account],
            let data = attributes[bytes: .data]
        else { throw .parameter }
        var item = FakeKeychain.Item(
            isLogin: isLogin, accessGroup: attributes[text: .accessGroup] ?? groups.first ?? "", service: service,
            account: account, data: data, accessible: .whenUnlocked)
        try item.change(attributes)
        guard canUse(item) else { throw .interactionNotAllowed }
        guard !items.contains(where: { $0.isSame(item) }) else { throw .duplicateItem }
        items.append(item)
    }

    fileprivate mutating func copy(_ query: KeychainAttributes) throws(KeychainStatus) -> [KeychainAttributes] {
        try demand(query, Self.places.union(Self.results).union([.accessible, .authenticationContext]))
        var found = try indices(query)
        guard !found.isEmpty else { throw .itemNotFound }
        if query[.matchLimit] != .limit(.all) { found = [found[0]] }
        let wantsData = query[.returnData] == .flag(true)
        var answers: [KeychainAttributes] = []
        for index in found {
            let item = items[index]
            if wantsData {
                guard canUse(item) else { throw .interactionNotAllowed }
                try confirm(item, query)
            } else if !item.isLogin, device == .notYetUnlocked {
                throw .interactionNotAllowed
            }
            var answer: KeychainAttributes = [.service: .text(item.service), .account: .text(item.account)]
            answer[bytes: .generic] = item.generic
            if !item.isLogin, item.requirement == nil { answer[.accessible] = .accessible(item.accessible) }
            if wantsData { answer[bytes: .data] = item.data }
            answers.append(answer)
        }
        return answers
    }

    fileprivate mutating func update(
        _ query: KeychainAttributes, _ changes: KeychainAttributes
    ) throws(KeychainStatus) {
        try demand(query, Self.places.union([.accessible, .authenticationContext]))
        try demand(changes, Self.contents)
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
        try demand(query, Self.places.union([.accessible]))
        let found = try indices(query)
        guard !found.isEmpty else { throw .itemNotFound }
        for index in found.reversed() { items.remove(at: index) }
    }

    private func demand(_ attributes: KeychainAttributes, _ known: Set<KeychainKey>) throws(KeychainStatus) {
        guard known.isSuperset(of: attributes.keys) else { throw .parameter }
    }

    private func isLogin(_ query: KeychainAttributes) throws(KeychainStatus) -> Bool {
        guard query[.useDataProtection] == .flag(true) else { return true }
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
        guard item.requirement != nil else { return }
        var known: KeychainAuthenticationContext?
        if case .authenticationContext(let context)? = query[.authenticationContext] { known = context }
        if let known, recognised.contains(known) { return }
        guard device == .unlocked else { throw .interactionNotAllowed }
        prompts.append(known?.reason ?? "")
        switch person {
        case .confirms: if let known { recognised.insert(known) }
        case .declines: throw .userCanceled
        case .isNotRecognised: throw .authenticationFailed
        }
    }
}

extension FakeKeychain.Item {
    fileprivate func isSame(_ other: Self) -> Bool {
        isLogin == other.isLogin && accessGroup == other.accessGroup && service == other.service
            && account == other.account
    }

    fileprivate mutating func change(_ attributes: KeychainAttributes) throws(KeychainStatus) {
        // The login keychain knows neither, and one excludes the other.
        let protections = [attributes[.accessible], attributes[.accessControl]].compactMap(\.self)
        guard protections.count <= (isLogin ? 0 : 1) else { throw .parameter }
        if let data = attributes[bytes: .data] { self.data = data }
        if let generic = attributes[bytes: .generic] { self.generic = generic }
        switch protections.first {
        case .accessible(let accessible)?: (self.accessible, requirement) = (accessible, nil)
        case .accessControl(let accessible, let requirement)?:
            (self.accessible, self.requirement) = (accessible, requirement)
        default: break
        }
    }
}
