internal import Foundation
internal import Martlet

/// The store in which the processes keep the session that they share.
enum TortureStore: String, CaseIterable, Sendable, Codable {
    case file
    case encrypted
    case secretService = "secret-service"

    /// Opens the store of a test.
    /// - Parameter folder: The folder of the test, which no other test uses.
    func open(in folder: String) -> AnyTokenStore {
        switch self {
        case .file:
            return .file(path: path(in: folder))
        case .encrypted:
            return .encryptedFile(path: path(in: folder), key: .file(path: folder + "/key", createIfMissing: true))
        case .secretService:
            #if os(Linux)
                return .secretService(
                    service: Self.service(of: folder), timeout: Self.timeout, folder: Self.recordFolder(in: folder))
            #else
                return .file(path: path(in: folder))
            #endif
        }
    }

    /// The file that is replaced when the record changes. For the Secret Service, a marker beside the locks.
    func path(in folder: String) -> String {
        let name =
            switch self {
            case .file: "session.json"
            case .encrypted: "session.sealed"
            case .secretService: "session.changed"
            }
        return "\(Self.recordFolder(in: folder))/\(name)"
    }

    static func recordFolder(in folder: String) -> String { folder + "/record" }

    /// Deletes the record and its locks, while no process uses them.
    func reset(in folder: String) async throws {
        if self == .secretService { try await open(in: folder).delete() }
        if FileManager.default.fileExists(atPath: Self.recordFolder(in: folder)) {
            try FileManager.default.removeItem(atPath: Self.recordFolder(in: folder))
        }
    }

    /// The files that must not be there after a sign-out: the record, and temporary files of killed writers.
    func leftovers(in folder: String) async throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.recordFolder(in: folder))
        var leftovers = files.filter {
            $0.hasSuffix(".tmp") || $0.hasSuffix(".json") || $0.hasSuffix(".sealed")
        }
        #if os(Linux)
            if self == .secretService {
                let storage: AnySecureStorage = .secretService(
                    service: Self.service(of: folder), timeout: Self.timeout)
                leftovers += try await storage.keys().map { "\($0) in the keyring" }
            }
        #endif
        return leftovers.sorted()
    }

    private static func service(of folder: String) -> String { URL(filePath: folder).lastPathComponent }

    /// Longer than the default, because many processes use the same keyring at once.
    private static let timeout = Duration.seconds(20)
}
