#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the session of each account in a file of its own.
final class FileAccountStore: AccountStorage {
    private let folder: String
    private let queue = BlockingQueue("martlet.account-files")
    /// Names the current account.
    private let currentFile: PrivateFile

    private static let recordName = "session.json"
    /// In seconds. No write takes this long, so an older temporary file was left by a killed process.
    private static let longestWrite = 60

    init(folder: String) {
        self.folder = folder
        self.currentFile = PrivateFile(path: folder + "/current.json")
    }

    func store(for account: AccountID) -> any TokenStore {
        FileTokenStore(path: "\(folder)/\(Self.path(of: account))/\(Self.recordName)")
    }

    func accounts() async throws -> [AccountID] {
        let paths = try await queue.run { [folder] () throws(StorageError) in
            var paths: [String] = []
            try EscapedName.forEachFolder(below: folder) { path, names in
                if names.contains(Self.recordName), !path.isEmpty { paths.append(path) }
            }
            return paths
        }
        return paths.compactMap(Self.account(at:)).sorted { $0.rawValue < $1.rawValue }
    }

    func current() async throws -> AccountID? {
        try await queue.run { [currentFile] () throws(StorageError) in
            guard let bytes = try currentFile.read() else { return nil }
            guard let names = try? JSONDecoder().decode([String].self, from: bytes) else {
                throw StorageError(
                    .corrupt, "\(currentFile.path) does not name an account; delete it and choose an account again")
            }
            return names.first.map(AccountID.init(rawValue:))
        }
    }

    func setCurrent(_ account: AccountID?) async throws {
        let bytes = try JSONEncoder().encode(account.map { [$0.rawValue] } ?? [])
        try await queue.run { [currentFile] () throws(StorageError) in
            try currentFile.makeFolder()
            currentFile.removeLeftovers(olderThan: Self.longestWrite)
            _ = try currentFile.replace(with: bytes, if: { true })
        }
    }

    static func path(of account: AccountID) -> String {
        EscapedName.path(of: account.rawValue)
    }

    static func account(at path: String) -> AccountID? {
        EscapedName.text(at: path).map(AccountID.init(rawValue:))
    }
}

extension AccountStore {
    /// Keeps the session of each account in a plain text file of the user: in the folder `accounts` beside the file of
    /// ``TokenStore/file(service:)``. See ``files(in:)``.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it is replaced by a dash.
    public static func files(service: String) -> AccountStore {
        .files(in: Disk.stateFolder(of: service) + "/accounts")
    }

    /// Keeps the session of each account in a plain text file, as ``TokenStore/file(path:)`` does.
    ///
    /// Each account has a folder. Its name is the account's, in which `%` and two hexadecimal digits replace each byte
    /// other than lower-case letters, digits, `-` and `_`. So accounts stay distinct even on file systems that ignore
    /// case.
    /// - Parameter folder: A folder on a local disk, created when needed.
    public static func files(in folder: String) -> AccountStore {
        AccountStore(FileAccountStore(folder: folder))
    }
}
