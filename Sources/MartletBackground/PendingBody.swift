internal import Martlet
internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A body that is being written to a private file, because in the background the system uploads only files. Every call
/// but ``write(_:queue:to:)`` blocks.
final class PendingBody: Sendable {
    private let path: String
    private let descriptor: Int32
    private let size = Locked<Int64>(0)

    init(_ path: String, in folder: String) throws(FileError) {
        self.path = path
        descriptor = System.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError(writing: path, in: folder, errno: errno) }
    }

    deinit {
        BlockingQueue.startUnlessHere { [descriptor] in System.close(descriptor) }
    }

    func append(_ piece: Data) throws(FileError) {
        let end = size.withLock { size in
            defer { size += Int64(piece.count) }
            return size
        }
        guard piece.write(to: descriptor, at: end) else { throw FileError(writing: path, in: path, errno: errno) }
    }

    /// Removes the file if the transfer does not begin.
    func discard() {
        System.unlink(path)
    }

    /// Flushes the file to the disk. The list must not name a body that a system crash could lose.
    func flush() throws(FileError) {
        guard Disk.flush(descriptor) else { throw FileError(writing: path, in: path, errno: errno) }
    }

    /// Writes a whole body.
    static func write(
        _ body: OutgoingBody, queue: BlockingQueue, to make: @escaping @Sendable () throws(FileError) -> PendingBody
    ) async throws {
        let file = try await queue.run(make)
        do {
            for try await piece in body.stream {
                try await queue.run { () throws(FileError) in try file.append(piece) }
            }
            try await queue.run { () throws(FileError) in try file.flush() }
        } catch {
            await queue.run { file.discard() }
            throw error
        }
    }
}
