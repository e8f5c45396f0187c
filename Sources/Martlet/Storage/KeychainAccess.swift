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

    /// How often adding and updating give way to each other, while somebody else adds and deletes the same item.
    private static let mostTries = 8

    /// The item at a place, or `nil` where there is certainly none.
    func find(_ place: KeychainAttributes, withData: Bool) throws(KeychainStatus) -> KeychainAttributes? {
        var query = query(place)
        query[.returnAttributes] = .flag(true)
        query[.returnData] = .flag(withData)
        query[.matchLimit] = .limit(.one)
        switch calls.copyMatching(query) {
        case .success(let items): return items.first
        case .failure(.itemNotFound):
            try confirmAbsence()
            return nil
        case .failure(let status): throw status
        }
    }

    /// All items at a place, without their data.
    func findAll(_ place: KeychainAttributes) throws(KeychainStatus) -> [KeychainAttributes] {
        var query = query(place)
        query[.returnAttributes] = .flag(true)
        query[.matchLimit] = .limit(.all)
        switch calls.copyMatching(query) {
        case .success(let items): return items
        case .failure(.itemNotFound):
            try confirmAbsence()
            return []
        case .failure(let status): throw status
        }
    }

    /// Adds an item, or changes the one that is there.
    ///
    /// What makes an item the same is its service, account and access group, and not its accessibility. So that is no part
    /// of the query, or an item that was stored under another one would be neither found nor added.
    func put(_ contents: KeychainAttributes, at place: KeychainAttributes) throws(KeychainStatus) {
        let contents = contents.merging(protection) { given, _ in given }
        var status = KeychainStatus.success
        for _ in 0..<Self.mostTries {
            status = calls.add(self.place(place).merging(contents) { given, _ in given })
            guard status == .duplicateItem else { break }
            status = calls.update(query(place), contents)
            guard status == .itemNotFound else { break }
        }
        if status != .success { throw status }
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

    /// Makes sure that "not found" means what it says, by writing an item that is as hard to reach.
    ///
    /// An item can be written exactly while others of the same accessibility can be read: both need the same key, which
    /// the system does not have while the data is protected.
    /// - Throws: What keeps this process from telling.
    private func confirmAbsence() throws(KeychainStatus) {
        if isLogin { return }
        let place = place([.service: .text(service + ".probe"), .account: .text("probe")])
        // Without a passcode there can be no item that asks for one, but the question is whether the device is unlocked.
        let accessible = accessibility == .whenPasscodeSetThisDeviceOnly ? .whenUnlockedThisDeviceOnly : accessibility
        let contents: KeychainAttributes = [.data: .bytes(Data([0])), .accessible: .accessible(accessible)]
        var status = calls.add(place.merging(contents) { given, _ in given })
        // Another process asks the same, or one was ended while it did.
        if status == .duplicateItem { status = calls.update(place, contents) }
        _ = calls.delete(place)
        // Where the other process was done in between, it could write.
        guard status == .success || status == .itemNotFound else { throw status }
    }
}
