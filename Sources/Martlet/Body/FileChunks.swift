#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The bytes of a file, piece by piece, read off the cooperative threads, which must not block.
///
/// A pass yields exactly as many bytes as the file had when it was measured, or throws ``FileProblem``: whoever
/// announced the length can rely on it. The file is closed at the end, after an error or a cancellation, and when a
/// pass is dropped midway.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = Data

    /// Large enough that a hop to another thread costs little beside the reading, small enough to keep many in memory.
    static let standardChunkSize = 256 * 1024

    let path: String
    /// How many bytes the file must have; measured when a pass opens it where `nil`.
    let size: Int64?
    let chunkSize: Int

    init(path: String, size: Int64? = nil, chunkSize: Int = FileChunks.standardChunkSize) {
        self.path = path
        self.size = size
        self.chunkSize = Swift.max(chunkSize, 1)
    }

    /// How many bytes a file has, once it is sure that it is a regular file that can be opened.
    /// - Throws: ``FileProblem``.
    static func size(ofFileAt path: String) throws(FileProblem) -> Int64 {
        try look(at: path, upTo: 0).size
    }

    /// How many bytes a file has, and the first of them.
    /// - Parameter count: How many of them at most.
    /// - Throws: ``FileProblem``.
    static func look(at path: String, upTo count: Int) throws(FileProblem) -> (size: Int64, start: Data) {
        // Looked at before it is opened: opening a pipe or a device can do things to it.
        try FileDescriptor.requireRegularFile(at: path)
        let file = try FileDescriptor(path)
        let size = try file.size()
        guard count > 0, size > 0 else { return (size, Data()) }
        let start = try ChunkMemory(blockSize: count).chunk { room throws(FileProblem) in
            try file.read(into: room, from: 0)
        }
        return (size, start)
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(path: path, size: size, chunkSize: chunkSize)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private enum State {
            case unopened
            case open(FileDescriptor, position: Int64, size: Int64)
            case finished
        }

        private let path: String
        private let size: Int64?
        private let chunkSize: Int
        private let memory: ChunkMemory
        private var state = State.unopened

        fileprivate init(path: String, size: Int64?, chunkSize: Int) {
            self.path = path
            self.size = size
            self.chunkSize = chunkSize
            self.memory = ChunkMemory(blockSize: chunkSize)
        }

        mutating func next() async throws -> Data? {
            let before = state
            // Leaving this method by a throw lets go of the descriptor, and with it goes the file.
            state = .finished
            if case .finished = before { return nil }
            try Task.checkCancellation()
            let (after, chunk) = try await FileQueue.run { [path, size, chunkSize, memory] in
                try Self.step(from: before, path: path, size: size, chunkSize: chunkSize, memory)
            }
            try Task.checkCancellation()
            state = after
            return chunk
        }

        private static func step(
            from state: State, path: String, size expected: Int64?, chunkSize: Int, _ memory: ChunkMemory
        ) throws(FileProblem) -> (State, Data?) {
            let descriptor: FileDescriptor
            let position: Int64
            let size: Int64
            switch state {
            case .finished: return (.finished, nil)
            case .open(let open, let reached, let total): (descriptor, position, size) = (open, reached, total)
            case .unopened:
                descriptor = try FileDescriptor(path)
                position = 0
                size = try descriptor.size()
                guard size == expected ?? size else { throw FileProblem(.changed, path: path) }
            }
            guard position < size else {
                // One byte more than announced means that the file grew; asking for it also finds those files of
                // /proc that claim to be empty.
                guard try descriptor.read(upTo: 1, from: position).isEmpty else {
                    throw FileProblem(.changed, path: path)
                }
                return (.finished, nil)
            }
            let chunk = try memory.chunk { room throws(FileProblem) in
                let wanted = Int(Swift.min(Int64(chunkSize), size - position))
                return try descriptor.read(into: .init(rebasing: room[..<wanted]), from: position)
            }
            guard !chunk.isEmpty else { throw FileProblem(.changed, path: path) }
            return (.open(descriptor, position: position + Int64(chunk.count), size: size), chunk)
        }
    }
}

/// A file read in one go, for those who need all of it at once. Blocks its thread.
package enum WholeFile {
    /// The bytes of a file.
    /// - Returns: `nil` where there are more bytes than the limit.
    /// - Throws: ``FileProblem``.
    package static func read(_ path: String, atMost limit: Int) throws(FileProblem) -> Data? {
        let size = try FileChunks.size(ofFileAt: path)
        guard size <= limit else { return nil }
        let descriptor = try FileDescriptor(path)
        let bytes = try descriptor.read(upTo: Int(size), from: 0)
        guard bytes.count == size, try descriptor.read(upTo: 1, from: size).isEmpty else {
            throw FileProblem(.changed, path: path)
        }
        return bytes
    }
}

/// An open file, closed with the last reference to it, so never under a read that is still going on.
private final class FileDescriptor: Sendable {
    private let number: Int32
    private let path: String

    init(_ path: String) throws(FileProblem) {
        // C would take a path to end at its first NUL and open another file.
        guard !path.utf8.contains(0) else { throw FileProblem(.missing, path: path) }
        // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
        number = try Self.retrying(path) { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        self.path = path
    }

    deinit {
        // Not repeated on EINTR: on Linux the descriptor is gone even then, and may be somebody else's already.
        close(number)
    }

    static func requireRegularFile(at path: String) throws(FileProblem) {
        guard !path.utf8.contains(0) else { throw FileProblem(.missing, path: path) }
        var status = stat()
        _ = try retrying(path) { stat(path, &status) }
        _ = try regularSize(status, path: path)
    }

    func size() throws(FileProblem) -> Int64 {
        var status = stat()
        _ = try Self.retrying(path) { fstat(number, &status) }
        return try Self.regularSize(status, path: path)
    }

    /// Reads as much as there is room for, or less at the end of the file, and says how much.
    func read(into room: UnsafeMutableRawBufferPointer, from position: Int64) throws(FileProblem) -> Int {
        try Self.retrying(path) { pread(number, room.baseAddress, room.count, off_t(position)) }
    }

    /// So many bytes, or fewer at the end of the file.
    func read(upTo count: Int, from position: Int64) throws(FileProblem) -> Data {
        var bytes = Data(count: count)
        let taken = try Self.retrying(path) {
            bytes.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, off_t(position)) }
        }
        return taken == count ? bytes : bytes.prefix(taken)
    }

    private static func regularSize(_ status: stat, path: String) throws(FileProblem) -> Int64 {
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileProblem(.notRegular, path: path) }
        return Int64(status.st_size)
    }

    /// Makes a system call until no signal interrupts it.
    private static func retrying<Result: SignedInteger>(
        _ path: String, _ call: () -> Result
    ) throws(FileProblem) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let number = errno
            switch number {
            case EINTR: continue
            case ENOENT, ENOTDIR: throw FileProblem(.missing, path: path)
            case EACCES, EPERM: throw FileProblem(.forbidden, path: path)
            case EISDIR: throw FileProblem(.notRegular, path: path)
            default: throw FileProblem(.unreadable(errno: number), path: path)
            }
        }
    }
}
