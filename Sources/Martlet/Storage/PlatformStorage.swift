#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Keeps secrets in the safest place that the system has: the Keychain on Apple's systems; on Linux the desktop's
/// keyring where one answers, and otherwise files that only their user can read.
///
/// ```swift
/// let secrets: some SecureStorage = .platformDefault(service: "com.example.app")
/// ```
///
/// On Linux the choice is made once. With the first secret that is saved a note is left of it, in `storage` in the
/// service's folder below `$XDG_STATE_HOME`, and from then on it stays: a keyring that does not answer one morning is
/// *unavailable*, and not a reason to look for a session elsewhere and find none. Whoever wants another choice deletes
/// the note, and signs in again.
public final class PlatformStorage: SecureStorage {
    struct Candidate: Sendable {
        let kind: StorageChoice.Kind
        let storage: any SecureStorage
        /// Why it cannot be used here; `nil` if it can.
        let obstacle: @Sendable () async -> StorageFailure?
    }

    /// In the order in which they are preferred. The last one is taken whatever it says.
    private let candidates: [Candidate]
    private let note: PrivateFile
    private let queue = BlockingQueue("martlet.platform-storage")
    private let state = Locked<(choice: StorageChoice, isNoted: Bool)?>(nil)

    /// The secrets of an app.
    /// - Parameter service: The app's name in reverse-domain form; on Apple's systems usually its bundle identifier.
    public convenience init(service: String) {
        let folder = Disk.stateFolder(of: service)
        self.init(candidates: Self.candidates(service: service, folder: folder), folder: folder)
    }

    init(candidates: [Candidate], folder: String) {
        self.candidates = candidates
        self.note = PrivateFile(path: folder + "/storage")
    }

    /// Which place was chosen, and why.
    /// - Throws: ``StorageFailure`` where there is a note of an earlier choice that cannot be read.
    public func choice() async throws(StorageFailure) -> StorageChoice {
        // As long as nothing is noted another process may choose, and then that holds.
        let known = state.withLock { $0 }
        if let known, known.isNoted || candidates.count < 2 { return known.choice }
        let noted = try await earlierChoice()
        var choice = noted ?? known?.choice
        if choice == nil { choice = await bestChoice() }
        guard let choice else { throw StorageFailure(.unreachable, "this system has no place for secrets") }
        return state.withLock { state in
            // Somebody else may have been faster, and saved something already.
            if let state, state.isNoted || noted == nil { return state.choice }
            state = (choice, noted != nil)
            return choice
        }
    }

    /// Reads a value.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    public func read(_ key: String) async throws(StorageFailure) -> Data? {
        try await place().read(key)
    }

    /// Saves a value, in place of what was there.
    /// - Throws: ``StorageFailure``; what was there before is still there.
    public func save(_ value: Data, for key: String) async throws(StorageFailure) {
        try await noteChoice()
        try await place().save(value, for: key)
    }

    /// Deletes a value; does nothing where there is none.
    /// - Throws: ``StorageFailure``; the value is still there.
    public func delete(_ key: String) async throws(StorageFailure) {
        try await place().delete(key)
    }

    /// The keys that have a value, sorted.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    public func keys() async throws(StorageFailure) -> [String] {
        try await place().keys()
    }

    /// One value whenever what could not be read may be readable again; `nil` where that is not told.
    public func changes() -> AsyncStream<Void>? {
        candidates.first?.storage.changes()
    }

    private func place() async throws(StorageFailure) -> any SecureStorage {
        let choice = try await choice()
        guard let candidate = candidates.first(where: { $0.kind == choice.kind }) else {
            throw StorageFailure(.unreachable, "\(note.path) names a place that this version does not know")
        }
        return candidate.storage
    }

    private func bestChoice() async -> StorageChoice? {
        var obstacles: [String] = []
        for candidate in candidates.dropLast() {
            guard let obstacle = await candidate.obstacle() else {
                return StorageChoice(kind: candidate.kind, reason: "it answers")
            }
            obstacles.append("\(candidate.kind): \(obstacle)")
        }
        return candidates.last.map { last in
            StorageChoice(
                kind: last.kind,
                reason: obstacles.isEmpty ? "every such system has it" : obstacles.joined(separator: "; "))
        }
    }

    private func earlierChoice() async throws(StorageFailure) -> StorageChoice? {
        guard candidates.count > 1 else { return nil }
        let bytes = try await queue.run { [note] () throws(StorageFailure) in try note.read() }
        guard let bytes else { return nil }
        let name = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
        guard let kind = name.flatMap(StorageChoice.Kind.init) else {
            throw StorageFailure(.corrupt, "\(note.path) does not say where the secrets are")
        }
        return StorageChoice(kind: kind, reason: "it was chosen before, as \(note.path) says")
    }

    /// Leaves a note of the choice before anything is there that it must lead to.
    private func noteChoice() async throws(StorageFailure) {
        let choice = try await choice()
        guard candidates.count > 1, state.withLock({ $0?.isNoted }) != true else { return }
        let bytes = Data((choice.kind.rawValue + "\n").utf8)
        try await queue.run { [note] () throws(StorageFailure) in
            try note.makeFolder()
            _ = try note.create(with: bytes)
        }
        // Another process may have been faster, with another choice.
        guard let noted = try await earlierChoice() else { return }
        state.withLock { $0 = (noted.kind == choice.kind ? choice : noted, true) }
    }
}

/// Where an app's secrets are, and why there.
public struct StorageChoice: Sendable, Hashable, CustomStringConvertible {
    /// A kind of place.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Apple's Keychain.
        case keychain
        /// The desktop's keyring.
        case secretService = "secret-service"
        /// Files that only their user can read, as plain text.
        case files
    }

    /// What it is.
    public var kind: Kind
    /// Why it was chosen, for a log.
    public var reason: String

    /// What it is and why it was chosen.
    public var description: String { "\(kind.rawValue) (\(reason))" }
}

extension SecureStorage where Self == PlatformStorage {
    /// The safest place that the system has, for an app's secrets.
    /// - Parameter service: The app's name in reverse-domain form.
    public static func platformDefault(service: String) -> PlatformStorage {
        PlatformStorage(service: service)
    }
}

extension SecureTokenStore where Storage == PlatformStorage {
    /// A store for one session in the safest place that the system has.
    /// - Parameter service: The app's name in reverse-domain form.
    public convenience init(service: String) {
        self.init(storage: PlatformStorage(service: service), key: "session", folder: Disk.stateFolder(of: service))
    }

    /// Which place was chosen, and why.
    /// - Throws: ``StorageFailure`` where there is a note of an earlier choice that cannot be read.
    public func choice() async throws(StorageFailure) -> StorageChoice {
        try await storage.choice()
    }
}

extension TokenStore where Self == SecureTokenStore<PlatformStorage> {
    /// The safest place that the system has, for an app's session: see ``PlatformStorage``.
    ///
    /// ```swift
    /// let store: SecureTokenStore = .platformDefault(service: "com.example.app")
    /// print(try await store.choice())    // secret-service (it answers)
    /// ```
    /// - Parameter service: The app's name in reverse-domain form.
    public static func platformDefault(service: String) -> SecureTokenStore<PlatformStorage> {
        SecureTokenStore(service: service)
    }
}
