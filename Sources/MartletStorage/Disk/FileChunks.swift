internal import MartletLibc

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The bytes of a file as a sequence of chunks, read on threads that may block.
///
/// A pass yields exactly the number of bytes that the file had when it was measured, or throws ``FileError``. A
/// `Content-Length` with that number is therefore always correct. The file is closed at the end of a pass, after an
/// error or a cancellation, and when the iterator is dropped midway.
package struct FileChunks: AsyncSequence, Sendable {
    package typealias Element = Data

    /// In bytes. Large enough that switching threads costs little compared to reading, and small enough that many
    /// chunks fit in memory.
    package static let standardChunkSize = 256 * 1024

    package let path: String
    /// The size that the file must have; `nil` to measure it when a pass opens the file.
    package let size: Int64?
    package let chunkSize: Int

    package init(path: String, size: Int64? = nil, chunkSize: Int = FileChunks.standardChunkSize) {
        self.path = path
        self.size = size
        self.chunkSize = Swift.max(chunkSize, 1)
    }

    /// The size of a regular file that can be opened.
    /// - Throws: ``FileError``.
    package static func size(ofFileAt path: String) throws(FileError) -> Int64 {
        try readStart(ofFileAt: path, upTo: 0).size
    }

    /// The size and the first bytes of a file.
    /// - Parameter count: The maximum number of bytes to read.
    /// - Throws: ``FileError``.
    package static func readStart(ofFileAt path: String, upTo count: Int) throws(FileError) -> (
        size: Int64, start: Data
    ) {
        // Check before opening, because opening a pipe or a device can have side effects.
        try FileDescriptor.requireRegularFile(at: path)
        let file = try FileDescriptor(path)
        let size = try file.size()
        guard count > 0, size > 0 else { return (size, Data()) }
        let start = try ChunkMemory(blockSize: count).chunk { room throws(FileError) in
            try file.read(into: room, from: 0)
        }
        return (size, start)
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(path: path, size: size, chunkSize: chunkSize)
    }

    /// One pass over the file.
    package struct AsyncIterator: AsyncIteratorProtocol {
        /// Whether the pass has opened the file, and how far it has read.
        private enum State {
            case unopened
            case open(FileDescriptor, position: Int64, size: Int64)
            case finished
        }

        /// The file, and how it is read.
        private struct Source: Sendable {
            let path: String
            /// The size that the file must have; `nil` for any.
            let size: Int64?
            let chunkSize: Int
            let memory: ChunkMemory
        }

        private let source: Source
        private let queue = BlockingQueue("martlet.file")
        private var state = State.unopened

        fileprivate init(path: String, size: Int64?, chunkSize: Int) {
            source = Source(
                path: path, size: size, chunkSize: chunkSize, memory: ChunkMemory(blockSize: chunkSize))
        }

        package mutating func next() async throws -> Data? {
            let before = state
            // If this method throws, the descriptor is released, which closes the file.
            state = .finished
            if case .finished = before { return nil }
            try Task.checkCancellation()
            let (after, chunk) = try await queue.run { [source] in try Self.step(from: before, of: source) }
            try Task.checkCancellation()
            state = after
            return chunk
        }

        private static func step(from state: State, of source: Source) throws(FileError) -> (State, Data?) {
            let descriptor: FileDescriptor
            let position: Int64
            let size: Int64
            switch state {
            case .finished: return (.finished, nil)
            case .open(let open, let reached, let total): (descriptor, position, size) = (open, reached, total)
            case .unopened:
                descriptor = try FileDescriptor(source.path)
                position = 0
                size = try descriptor.size()
                guard size == source.size ?? size else { throw FileError(.changed, path: source.path) }
            }
            guard position < size else {
                // One more byte means that the file has grown, or that it is a file of /proc, which reports size 0.
                guard try descriptor.read(upTo: 1, from: position).isEmpty else {
                    throw FileError(.changed, path: source.path)
                }
                return (.finished, nil)
            }
            let chunk = try source.memory.chunk { room throws(FileError) in
                let wanted = Int(Swift.min(Int64(source.chunkSize), size - position))
                return try descriptor.read(into: .init(rebasing: room[..<wanted]), from: position)
            }
            guard !chunk.isEmpty else { throw FileError(.changed, path: source.path) }
            return (.open(descriptor, position: position + Int64(chunk.count), size: size), chunk)
        }
    }
}

/// Reads a whole file at once. Blocks its thread.
package enum WholeFile {
    /// Reads a file.
    /// - Returns: `nil` if the file has more bytes than the limit.
    /// - Throws: ``FileError``.
    package static func read(_ path: String, atMost limit: Int) throws(FileError) -> Data? {
        let size = try FileChunks.size(ofFileAt: path)
        guard size <= limit else { return nil }
        let descriptor = try FileDescriptor(path)
        var bytes = Data()
        while bytes.count < size {
            let next = try descriptor.read(upTo: Int(size) - bytes.count, from: Int64(bytes.count))
            guard !next.isEmpty else { break }
            // The first read usually returns the whole file, and appending would copy it.
            if bytes.isEmpty { bytes = next } else { bytes += next }
        }
        guard bytes.count == size, try descriptor.read(upTo: 1, from: size).isEmpty else {
            throw FileError(.changed, path: path)
        }
        return bytes
    }
}

/// An open file. It is closed when the last reference is released, so never during a read.
private final class FileDescriptor: Sendable {
    private let number: Int32
    private let path: String

    init(_ path: String) throws(FileError) {
        // In C, the path would end at its first NUL, and another file would be opened.
        guard !path.utf8.contains(0) else { throw FileError(.missing, path: path) }
        // Without O_NONBLOCK, opening a pipe without a writer would block forever.
        number = try Self.retrying(path) { System.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        self.path = path
    }

    deinit {
        // Do not retry on EINTR: on Linux the descriptor is closed even then, and may be in use again.
        BlockingQueue.startUnlessHere { [number] in System.close(number) }
    }

    static func requireRegularFile(at path: String) throws(FileError) {
        guard !path.utf8.contains(0) else { throw FileError(.missing, path: path) }
        var status = stat()
        _ = try retrying(path) { System.stat(path, &status) }
        _ = try regularSize(status, path: path)
    }

    func size() throws(FileError) -> Int64 {
        var status = stat()
        _ = try Self.retrying(path) { System.fstat(number, &status) }
        return try Self.regularSize(status, path: path)
    }

    /// Fills the buffer, or less at the end of the file.
    /// - Returns: The number of bytes read.
    func read(into room: UnsafeMutableRawBufferPointer, from position: Int64) throws(FileError) -> Int {
        try Self.retrying(path) { System.pread(number, room.baseAddress, room.count, off_t(position)) }
    }

    /// Reads up to a number of bytes; fewer at the end of the file.
    func read(upTo count: Int, from position: Int64) throws(FileError) -> Data {
        var bytes = Data(count: count)
        let taken = try Self.retrying(path) {
            bytes.withUnsafeMutableBytes { System.pread(number, $0.baseAddress, $0.count, off_t(position)) }
        }
        return taken == count ? bytes : bytes.prefix(taken)
    }

    private static func regularSize(_ status: stat, path: String) throws(FileError) -> Int64 {
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(.notRegular, path: path) }
        return Int64(status.st_size)
    }

    /// Repeats a system call while signals interrupt it.
    private static func retrying<Result: SignedInteger>(
        _ path: String, _ call: () -> Result
    ) throws(FileError) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let number = errno
            switch number {
            case EINTR: continue
            case ENOENT, ENOTDIR: throw FileError(.missing, path: path)
            case EACCES, EPERM: throw FileError(.forbidden, path: path)
            case EISDIR: throw FileError(.notRegular, path: path)
            default: throw FileError(.unreadable(errno: number), path: path)
            }
        }
    }
}
