#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the session of each account in a file of its own, each as ``FileTokenStore`` does.
///
/// ```swift
/// let accounts = Accounts(store: .files(service: "com.example.app")) { account, store in
///     TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"))
/// }
/// ```
///
/// Below the folder each account has one of its own, whose name is the account's with all but lower-case letters, digits,
/// `-` and `_` written as `%` and two digits each, so that no file system takes two names for one.
public final class FileAccountStore: AccountStore {
    /// Where everything is.
    public let folder: String
    private let queue = BlockingQueue("martlet.account-files")

    private static let recordName = "session.json"
    /// In seconds. No write of a note takes as long, so what is older was left behind.
    private static let oldestWrite = 60

    /// A store in a folder, which is made when it is needed.
    public init(folder: String) {
        self.folder = folder
    }

    /// The file of an account.
    public func store(for account: AccountID) -> any TokenStore {
        FileTokenStore(path: "\(folder)/\(Self.path(of: account))/\(Self.recordName)")
    }

    /// The accounts that have a record, by name.
    /// - Throws: ``StorageFailure``.
    public func accounts() async throws -> [AccountID] {
        let paths = try await queue.run { [folder] () throws(StorageFailure) in
            var paths: [String] = []
            try EscapedName.forEachFolder(below: folder) { path, names in
                if names.contains(Self.recordName), !path.isEmpty { paths.append(path) }
            }
            return paths
        }
        return paths.compactMap(Self.account(at:)).sorted { $0.rawValue < $1.rawValue }
    }

    /// The account that was made the current one last.
    /// - Throws: ``StorageFailure``.
    public func current() async throws -> AccountID? {
        let note = PrivateFile(path: folder + "/current.json")
        return try await queue.run { () throws(StorageFailure) in
            guard let bytes = try note.read() else { return nil }
            guard let account = try? JSONDecoder().decode([AccountID].self, from: bytes) else {
                throw StorageFailure(.corrupt, "\(note.path) does not name an account")
            }
            return account.first
        }
    }

    /// Notes which account is the current one; returns once that is on the disk.
    /// - Throws: ``StorageFailure``.
    public func setCurrent(_ account: AccountID?) async throws {
        let note = PrivateFile(path: folder + "/current.json")
        let bytes = try JSONEncoder().encode(account.map { [$0] } ?? [])
        try await queue.run { () throws(StorageFailure) in
            try note.makeFolder()
            note.removeLeftovers(olderThan: Self.oldestWrite)
            _ = try note.replace(with: bytes, if: { true })
        }
    }
}

extension FileAccountStore {
    static func path(of account: AccountID) -> String {
        EscapedName.path(of: account.rawValue)
    }

    static func account(at path: String) -> AccountID? {
        EscapedName.text(at: path).map(AccountID.init(rawValue:))
    }
}

extension AccountStore where Self == FileAccountStore {
    /// A folder of the user's own, as ``TokenStore/file(service:)`` has: `accounts` below it.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it counts as a dash.
    public static func files(service: String) -> FileAccountStore {
        FileAccountStore(folder: Disk.stateFolder(of: service) + "/accounts")
    }

    /// A folder at a path.
    public static func files(in folder: String) -> FileAccountStore {
        FileAccountStore(folder: folder)
    }
}
