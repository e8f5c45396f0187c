#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Keeps secrets in the first available of several storages, and stays with it.
///
/// The choice is written to the file `storage` of the service's folder before the first secret is saved. From then on,
/// a keyring that does not respond is *unavailable*. Looking for the session elsewhere would find none, and sign the
/// user out. To choose again, delete the file and sign in again.
package final class PlatformStorage: SystemStorage {
    /// The kinds of storages. The file of the choice contains the raw value.
    enum Kind: String {
        case secretService = "secret-service"
        case files
    }

    /// One of the storages to choose from.
    struct Candidate: Sendable {
        let kind: Kind
        let storage: any SecureStorage
        /// The reason why the storage cannot be used on this system; `nil` if it can.
        let obstacle: @Sendable () async -> StorageError?
    }

    /// The chosen kind of storage, and why it was chosen.
    private struct Choice: Hashable {
        var kind: Kind
        var reason: String
    }

    private struct State {
        var choice: Choice
        /// Whether the choice is in the file, so that no process makes another one.
        var isRecorded: Bool
    }

    /// In the order of preference. The last one is chosen if all others have an obstacle.
    private let candidates: [Candidate]
    private let record: PrivateFile
    private let queue = BlockingQueue("martlet.platform-storage")
    private let state = Locked<State?>(nil)

    init(candidates: [Candidate], folder: String) {
        self.candidates = candidates
        self.record = PrivateFile(path: folder + "/storage")
    }

    package func choice() async throws(StorageError) -> StorageChoice? {
        let choice = try await currentChoice()
        return switch choice.kind {
        case .secretService: .secretService(reason: choice.reason)
        case .files: .files(reason: choice.reason)
        }
    }

    /// Does nothing: none of the candidates authenticates the user.
    package func forgetAuthentication() {}

    package func read(_ key: String) async throws(StorageError) -> Data? {
        try await chosenStorage().read(key)
    }

    package func save(_ value: Data, for key: String) async throws(StorageError) {
        try await recordChoice()
        try await chosenStorage().save(value, for: key)
    }

    package func delete(_ key: String) async throws(StorageError) {
        try await chosenStorage().delete(key)
    }

    package func keys() async throws(StorageError) -> [String] {
        try await chosenStorage().keys()
    }

    package func changes() -> AsyncStream<Void>? {
        candidates.first?.storage.changes()
    }

    private func chosenStorage() async throws(StorageError) -> any SecureStorage {
        let choice = try await currentChoice()
        guard let candidate = candidates.first(where: { $0.kind == choice.kind }) else {
            throw StorageError(
                .unreachable,
                "\(record.path) names the storage \(choice.kind.rawValue), which this app does not support; delete it")
        }
        return candidate.storage
    }

    private func currentChoice() async throws(StorageError) -> Choice {
        // Until a choice is recorded, another process may record one that then applies here, too.
        let known = state.withLock { $0 }
        if let known, known.isRecorded || candidates.count < 2 { return known.choice }
        let recorded = try await recordedChoice()
        var choice = recorded ?? known?.choice
        if choice == nil { choice = await bestChoice() }
        guard let choice else { throw StorageError(.unreachable, "this system has no storage for secrets") }
        return state.withLock { state in
            // Another task may have recorded or made a choice by now.
            if let state, state.isRecorded || recorded == nil { return state.choice }
            state = State(choice: choice, isRecorded: recorded != nil)
            return choice
        }
    }

    private func bestChoice() async -> Choice? {
        var obstacles: [String] = []
        for candidate in candidates.dropLast() {
            guard let obstacle = await candidate.obstacle() else {
                return Choice(kind: candidate.kind, reason: "it is available")
            }
            obstacles.append("\(candidate.kind): \(obstacle)")
        }
        return candidates.last.map { last in
            Choice(
                kind: last.kind,
                reason: obstacles.isEmpty ? "it is the only one" : obstacles.joined(separator: "; "))
        }
    }

    private func recordedChoice() async throws(StorageError) -> Choice? {
        guard candidates.count > 1 else { return nil }
        let bytes = try await queue.run { [record] () throws(StorageError) in try record.read() }
        guard let bytes else { return nil }
        let name = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
        guard let kind = name.flatMap(Kind.init) else {
            throw StorageError(
                .corrupt, "\(record.path) does not say where the secrets are; delete it to choose a storage again")
        }
        return Choice(kind: kind, reason: "it was chosen before, as \(record.path) says")
    }

    /// Records the choice before the first secret is saved, so that no secret exists without it.
    private func recordChoice() async throws(StorageError) {
        let choice = try await currentChoice()
        guard candidates.count > 1, state.withLock({ $0?.isRecorded }) != true else { return }
        let bytes = Data((choice.kind.rawValue + "\n").utf8)
        try await queue.run { [record] () throws(StorageError) in
            try record.makeFolder()
            _ = try record.create(with: bytes)
        }
        // Another process may have recorded another choice first.
        guard let recorded = try await recordedChoice() else { return }
        state.withLock { state in
            state = State(choice: recorded.kind == choice.kind ? choice : recorded, isRecorded: true)
        }
    }
}

extension SecureStorage where Self == AnySecureStorage {
    /// Keeps secrets in the safest storage of the system, as ``TokenStore/platformDefault(service:)`` does.
    /// - Parameter service: The app's name in reverse-domain form; on Apple platforms usually its bundle identifier.
    public static func platformDefault(service: String) -> AnySecureStorage {
        AnySecureStorage(PlatformStorage.best(service: service))
    }
}
