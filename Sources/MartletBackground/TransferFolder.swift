internal import HTTPTypes
internal import Martlet
internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The private folder of the list. Each transfer has a record, and up to three more files beside it. Every call blocks.
///
/// The record is written first and removed first, so a file without a record is a leftover.
struct TransferFolder: Sendable {
    private let path: String
    private let containers: ContainerPaths
    private let steps: TransferSteps

    private static let record = "record.json"
    private static let body = "body"
    private static let response = "response"
    private static let download = "download"

    /// The largest response to keep, in bytes.
    static let largestResponse = 1 << 20
    private static let chunkSize = 1 << 18

    init(path: String, containers: ContainerPaths, steps: TransferSteps) {
        self.path = path
        self.containers = containers
        self.steps = steps
    }

    /// Reports a step to a test.
    func reached(_ step: TransferSteps.Step) {
        steps.reached(step)
    }

    /// Reads the list, and removes the leftovers of killed processes. A record that cannot be decoded is a leftover
    /// too: it does not say whose transfer it was.
    func load() throws(StorageError) -> [UUID: TransferRecord] {
        try PrivateFile(path: "\(path)/\(Self.record)").makeFolder()
        excludeFromBackups()
        var names: [String] = []
        do throws(Disk.Unreadable) {
            try Disk.forEachName(in: path) { names.append($0) }
        } catch {
            throw StorageError(.unreachable, "could not read the list of background transfers: \(error)")
        }
        var records: [UUID: TransferRecord] = [:]
        for name in names where name.hasSuffix(".\(Self.record)") {
            guard let id = id(ofFile: name), let record = try readRecord("\(path)/\(name)"), record.id == id else {
                continue
            }
            records[id] = record
        }
        PrivateFile.removeLeftovers(names, in: path, olderThan: 0)
        for name in names {
            guard let id = id(ofFile: name) else { continue }
            let isLeftover = records[id].map { $0.hasEnded && Self.isBody(name) } ?? true
            if isLeftover { Self.erase("\(path)/\(name)") }
        }
        return records
    }

    /// A device that is restored from a backup must not send again what the server received long ago.
    private func excludeFromBackups() {
        #if canImport(Darwin)
            var url = URL(fileURLWithPath: path, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? url.setResourceValues(values)
        #endif
    }

    /// - Returns: `nil` if waiting cannot make the record readable.
    private func readRecord(_ path: String) throws(StorageError) -> TransferRecord? {
        do throws(StorageError) {
            return try PrivateFile(path: path).read().flatMap {
                try? JSONDecoder().decode(TransferRecord.self, from: $0)
            }
        } catch {
            if error.kind.isTransient { throw error }
            return nil
        }
    }

    /// Returns when the record would survive a crash.
    func write(_ record: TransferRecord) throws(StorageError) {
        let bytes: Data
        do {
            bytes = try JSONEncoder().encode(record)
        } catch {
            throw StorageError(.unreachable, "a background transfer could not be encoded")
        }
        _ = try PrivateFile(path: file(of: record.id, Self.record)).replace(with: bytes) { true }
        reached(.written(record))
    }

    /// Removes everything that belongs to a transfer. A file that cannot be deleted is emptied: an empty record counts
    /// as none.
    /// - Throws: ``StorageError`` if the record is still there. All other files have been removed then, as far as
    ///   possible.
    func remove(_ id: UUID) throws(StorageError) {
        let record = file(of: id, Self.record)
        defer { for name in names(of: id) { Self.erase("\(path)/\(name)") } }
        do throws(StorageError) {
            _ = try PrivateFile(path: record).delete { true }
        } catch {
            guard Self.erase(record) else { throw error }
        }
        reached(.recordRemoved)
    }

    /// Deletes a file, or empties it if the system does not allow deleting it.
    /// - Returns: Whether nothing of it is left.
    @discardableResult
    private static func erase(_ path: String) -> Bool {
        if System.unlink(path) == 0 || errno == ENOENT { return true }
        let descriptor = System.open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { System.close(descriptor) }
        return System.ftruncate(descriptor, 0) == 0 && Disk.flush(descriptor)
    }

    // MARK: - Bodies

    func body(of id: UUID) -> String { file(of: id, Self.body) }

    /// Creates the file of a body that the folder keeps.
    func makeBody(of id: UUID) throws(FileError) -> PendingBody {
        do throws(StorageError) {
            try PrivateFile(path: body(of: id)).makeFolder()
        } catch {
            throw FileError(.missingFolder, path: path)
        }
        return try PendingBody(body(of: id), in: path)
    }

    /// Removes the bodies, which a transfer does not need after its end.
    func removeBodies(of id: UUID) {
        for name in names(of: id) where Self.isBody(name) { Self.erase("\(path)/\(name)") }
    }

    private static func isBody(_ name: String) -> Bool {
        name.hasSuffix(".\(body)") || name.hasSuffix(".\(download)")
    }

    // MARK: - Responses

    func keepResponse(_ bytes: Data?, of id: UUID) throws(StorageError) {
        guard let bytes, !bytes.isEmpty, bytes.count <= Self.largestResponse else { return }
        _ = try PrivateFile(path: file(of: id, Self.response)).replace(with: bytes) { true }
    }

    /// Removes the response of an earlier attempt.
    func removeResponse(of id: UUID) {
        Self.erase(file(of: id, Self.response))
    }

    func response(of id: UUID) -> Data? {
        try? PrivateFile(path: file(of: id, Self.response)).read()
    }

    /// Moves a downloaded file to this folder, before the delegate returns and the system deletes it. The new name
    /// contains the attempt and the status, because the record does not have the status yet.
    func keepDownload(_ source: String, of name: BackgroundTask.Name, status: Int) throws(FileError) {
        // A killed process may have moved the file already. The system then delivers the event again.
        if !Disk.exists(source) {
            if keptStatus(of: name) == status { return }
            throw FileError(.missing, path: source)
        }
        try move(source, to: download(of: name, status))
        reached(.downloadKept)
    }

    /// The status of a kept download; `nil` if there is none.
    func keptStatus(of name: BackgroundTask.Name) -> Int? {
        names(of: name.id).lazy.compactMap { file -> Int? in
            let parts = file.split(separator: ".")
            guard parts.count == 4, parts[3] == Self.download, parts[1] == "\(name.attempt)" else { return nil }
            return Int(parts[2])
        }.first
    }

    /// Moves a kept download to the app's path. If a killed process has done so already, the kept file is gone.
    /// - Parameter isAllowed: Whether the file may still appear. Called after a copy to another volume, which takes
    ///   time.
    /// - Returns: Whether the file is at the path.
    func publishDownload(
        of name: BackgroundTask.Name, status: Int, to destination: String, if isAllowed: () -> Bool
    ) throws(FileError) -> Bool {
        let kept = download(of: name, status)
        if !Disk.exists(kept), Disk.exists(destination) { return true }
        guard try move(kept, to: destination, if: isAllowed) else { return false }
        reached(.downloadPublished)
        return true
    }

    private func download(of name: BackgroundTask.Name, _ status: Int) -> String {
        file(of: name.id, "\(name.attempt).\(status).\(Self.download)")
    }

    /// Moves a file, and replaces an existing one. On another volume, too, the file appears only once it is complete.
    @discardableResult
    private func move(
        _ source: String, to destination: String, if isAllowed: () -> Bool = { true }
    ) throws(FileError) -> Bool {
        if System.rename(source, destination) == 0 { return true }
        let number = errno
        guard number == EXDEV else {
            throw FileError(writing: destination, in: PrivateFile(path: destination).location.folder, errno: number)
        }
        let copy = try IncomingFile.make(for: .init(destination))
        try Self.copy(source, to: copy)
        reached(.downloadCopied)
        guard isAllowed() else {
            copy.abandon()
            return false
        }
        try copy.publish(replacing: true)
        System.unlink(source)
        return true
    }

    private static func copy(_ source: String, to copy: IncomingFile) throws(FileError) {
        let descriptor = System.open(source, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.missing, path: source) }
        let file = IncomingFile(descriptor, .init(source), name: nil)
        var position: Int64 = 0
        while case let piece = try file.read(upTo: chunkSize, from: position), !piece.isEmpty {
            try copy.write(piece, at: position)
            position += Int64(piece.count)
        }
    }

    // MARK: - Paths of the app

    /// The path of the app's file that is uploaded, or of the downloaded one; `nil` for an upload whose body is in this
    /// folder.
    func path(of record: TransferRecord) -> String? {
        record.path.map(containers.path)
    }

    /// The stored form of a path.
    func portable(_ path: String) -> String {
        containers.portable(path)
    }

    // MARK: - Names

    private func file(of id: UUID, _ suffix: String) -> String { "\(path)/\(id.uuidString).\(suffix)" }

    private func id(ofFile name: String) -> UUID? {
        UUID(uuidString: String(name.prefix { $0 != "." }))
    }

    private func names(of id: UUID) -> [String] {
        var names: [String] = []
        try? Disk.forEachName(in: path) { if $0.hasPrefix("\(id.uuidString).") { names.append($0) } }
        return names
    }
}
