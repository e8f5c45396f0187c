#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Access to one Keychain: adds the attributes that every query needs, and confirms that "not found" is true. Every
/// call blocks.
package struct KeychainAccess {
    let calls: KeychainCalls
    let service: String
    let accessibility: KeychainAccessibility
    let authentication: KeychainAuthentication
    /// The generation of ``KeychainAuthenticationContext``.
    let generation: Int
    /// Whether this is the login keychain of macOS.
    let isLogin: Bool

    /// The number of attempts to update or add an item. Several may be needed, because another process may delete and
    /// add it in between.
    private static let maximumAttempts = 8

    /// The item with these attributes; `nil` if there is definitely none.
    package func find(_ identity: KeychainAttributes, withData: Bool) throws(KeychainStatus) -> KeychainAttributes? {
        var query = query(identity)
        query[.returnData] = .flag(withData)
        query[.matchLimit] = .limit(.one)
        return try found(by: query).first
    }

    /// All items with these attributes, without their data.
    func findAll(_ identity: KeychainAttributes) throws(KeychainStatus) -> [KeychainAttributes] {
        var query = query(identity)
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
                // Search again after the confirmation, because the device may have been unlocked in between.
                if !isCertain { try confirmAbsence() }
            case .failure(let status): throw status
            }
        }
        return []
    }

    /// Updates the item, or adds it if there is none.
    ///
    /// Service, account and access group identify an item; its accessibility does not. So the query omits the
    /// accessibility: otherwise an item with another accessibility could be neither found nor added. The update comes
    /// first, because without an access group it finds the item in any group. Adding would create a second item if the
    /// app's default group has changed.
    /// - Parameter isInBackups: Whether a backup copies the item to another device. Such an item has no secret, so the
    ///   app's accessibility and authentication do not apply to it.
    package func put(
        _ contents: KeychainAttributes, for identity: KeychainAttributes, isInBackups: Bool = false
    ) throws(KeychainStatus) {
        let contents = contents.merging(isInBackups && !isLogin ? Self.inBackups : protection) { given, _ in given }
        for _ in 0..<Self.maximumAttempts {
            var status = calls.update(query(identity), contents)
            if status == .itemNotFound {
                status = calls.add(self.identity(identity).merging(contents) { given, _ in given })
            }
            if status == .success { return }
            guard status == .duplicateItem else { throw status }
        }
        // The item exists but cannot be found, so its data is protected.
        throw .interactionNotAllowed
    }

    /// Deletes an item. Does nothing if there is definitely none.
    package func delete(_ identity: KeychainAttributes) throws(KeychainStatus) {
        switch calls.delete(self.identity(identity)) {
        case .success: break
        case .itemNotFound: try confirmAbsence()
        case let status: throw status
        }
    }

    private static let inBackups: KeychainAttributes = [.accessible: .accessible(.afterFirstUnlock)]

    /// The attributes that decide when an item may be read.
    var protection: KeychainAttributes {
        if isLogin { return [:] }
        if let requirement = authentication.requirement {
            return [.accessControl: .accessControl(accessibility, requirement)]
        }
        return [.accessible: .accessible(accessibility)]
    }

    /// A query for the items with these attributes.
    func query(_ identity: KeychainAttributes) -> KeychainAttributes {
        var query = self.identity(identity)
        if authentication.requirement != nil, !isLogin {
            query[.authenticationContext] = .authenticationContext(
                KeychainAuthenticationContext(reason: authentication.reason, generation: generation))
        }
        return query
    }

    /// The attributes for this Keychain. The login keychain has no access groups, and a query for synchronizable items
    /// would go to the data protection Keychain.
    private func identity(_ identity: KeychainAttributes) -> KeychainAttributes {
        var identity = identity
        if isLogin {
            identity[.accessGroup] = nil
            identity[.synchronizable] = nil
        } else {
            identity[.useDataProtection] = .flag(true)
        }
        return identity
    }

    /// Confirms a "not found" result by writing a probe that can be written only while the device is unlocked.
    ///
    /// An item can be written if and only if items of the same accessibility can be read: both need the same key, which
    /// the system does not have while the data is protected. The probe is readable only while the device is unlocked,
    /// because items from an older version of the app or from another library may have the same restriction.
    /// - Throws: The status of the write, if it fails.
    private func confirmAbsence() throws(KeychainStatus) {
        if isLogin { return }
        let identity = identity([.service: .text(service + ".probe"), .account: .text("probe")])
        let contents: KeychainAttributes = [
            .data: .bytes(Data([0])), .accessible: .accessible(.whenUnlockedThisDeviceOnly),
        ]
        var status = calls.add(identity.merging(contents) { given, _ in given })
        // Another process is writing the same probe, or was killed before it deleted the probe.
        if status == .duplicateItem { status = calls.update(identity, contents) }
        _ = calls.delete(identity)
        // "Not found" means that the other process has deleted its probe in between. So it was able to write, and the
        // device is unlocked.
        guard status == .success || status == .itemNotFound else { throw status }
    }
}
