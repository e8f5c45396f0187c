#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One way into one Keychain: queries that are complete, and answers that can be relied on. Every call blocks.
struct KeychainAccess {
    let calls: KeychainCalls
    let service: String
    let accessibility: KeychainAccessibility
    let authentication: KeychainAuthentication
    let generation: Int
    let isLogin: Bool

    /// How often changing and adding give way to each other, while somebody else adds and deletes the same item.
    private static let mostTries = 8

    /// The item at a place, or `nil` where there is certainly none.
    func find(_ place: KeychainAttributes, withData: Bool) throws(KeychainStatus) -> KeychainAttributes? {
        var query = query(place)
        query[.returnData] = .flag(withData)
        query[.matchLimit] = .limit(.one)
        return try found(by: query).first
    }

    /// All items at a place, without their data.
    func findAll(_ place: KeychainAttributes) throws(KeychainStatus) -> [KeychainAttributes] {
        var query = query(place)
        query[.matchLimit] = .limit(.all)
        return try found(by: query)
    }

    private func found(by query: KeychainAttributes) throws(KeychainStatus) -> [KeychainAttributes] {
        var query = query
        query[.returnAttributes] = .flag(true)
        for isCertain in [false, true] {
            switch calls.copyMatching(query) {
            case .success(let items): return items
            case .failure(.itemNotFound):
                // The device may have been unlocked between this answer and the one that makes sure.
                if !isCertain { try confirmAbsence() }
            case .failure(let status): throw status
            }
        }
        return []
    }

    /// Changes the item that is there, or adds one.
    ///
    /// What makes an item the same is its service, account and access group, and not its accessibility. So that is no part
    /// of the query, or an item that was stored under another one would be neither found nor added. Changing comes first:
    /// without an access group it reaches the item in whichever group it is, while adding would make a second one where
    /// the app's default group has changed.
    func put(_ contents: KeychainAttributes, at place: KeychainAttributes) throws(KeychainStatus) {
        let contents = contents.merging(protection) { given, _ in given }
        for _ in 0..<Self.mostTries {
            var status = calls.update(query(place), contents)
            if status == .itemNotFound {
                status = calls.add(self.place(place).merging(contents) { given, _ in given })
            }
            if status == .success { return }
            guard status == .duplicateItem else { throw status }
        }
        // It is there and is not to be found: the data is protected.
        throw .interactionNotAllowed
    }

    /// Deletes an item; does nothing where there is certainly none.
    func delete(_ place: KeychainAttributes) throws(KeychainStatus) {
        switch calls.delete(self.place(place)) {
        case .success: break
        case .itemNotFound: try confirmAbsence()
        case let status: throw status
        }
    }

    /// What decides when an item may be read.
    var protection: KeychainAttributes {
        if isLogin { return [:] }
        if let requirement = authentication.requirement {
            return [.accessControl: .accessControl(accessibility, requirement)]
        }
        return [.accessible: .accessible(accessibility)]
    }

    /// A query for what is at a place.
    func query(_ place: KeychainAttributes) -> KeychainAttributes {
        var query = self.place(place)
        if authentication.requirement != nil, !isLogin {
            query[.authenticationContext] = .authenticationContext(
                KeychainAuthenticationContext(reason: authentication.reason, generation: generation))
        }
        return query
    }

    /// The place in this Keychain. The login keychain knows no access groups.
    private func place(_ place: KeychainAttributes) -> KeychainAttributes {
        var place = place
        if isLogin { place[.accessGroup] = nil } else { place[.useDataProtection] = .flag(true) }
        return place
    }

    /// Makes sure that "not found" means what it says, by writing an item that is as hard to reach as any.
    ///
    /// An item can be written exactly while others of the same accessibility can be read: both need the same key, which
    /// the system does not have while the data is protected. Items that an older version or something else has left may
    /// be readable on an unlocked device only, so that is what is asked for.
    /// - Throws: What keeps this process from telling.
    private func confirmAbsence() throws(KeychainStatus) {
        if isLogin { return }
        let place = place([.service: .text(service + ".probe"), .account: .text("probe")])
        let contents: KeychainAttributes = [
            .data: .bytes(Data([0])), .accessible: .accessible(.whenUnlockedThisDeviceOnly),
        ]
        var status = calls.add(place.merging(contents) { given, _ in given })
        // Another process asks the same, or one was ended while it did.
        if status == .duplicateItem { status = calls.update(place, contents) }
        _ = calls.delete(place)
        // Where the other process was done in between, it could write.
        guard status == .success || status == .itemNotFound else { throw status }
    }
}
