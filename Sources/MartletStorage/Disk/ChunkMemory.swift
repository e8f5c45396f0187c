#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reusable blocks of memory for the chunks of one pass over a file.
///
/// The system clears newly allocated memory. For the chunks of a large file, that takes longer than reading them.
final class ChunkMemory: Sendable {
    /// `@unchecked Sendable` is correct because at most one chunk uses a block at a time.
    private struct Block: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    /// The maximum number of unused blocks to keep.
    private static let maximumSpare = 4

    private let size: Int
    private let spare = Locked<[Block]>([])

    /// - Parameter size: In bytes.
    init(blockSize size: Int) {
        self.size = size
    }

    deinit {
        for block in spare.withLock({ $0 }) { block.start.deallocate() }
    }

    /// A chunk backed by a block. The block is reused after the last reference to the chunk is gone.
    /// - Parameter fill: Writes into the block, and returns the number of bytes written.
    func chunk(
        _ fill: (UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    ) throws(FileError) -> Data {
        let block =
            spare.withLock { $0.popLast() } ?? Block(start: .allocate(byteCount: size, alignment: 16))
        let count: Int
        do throws(FileError) {
            count = try fill(UnsafeMutableRawBufferPointer(start: block.start, count: size))
        } catch {
            recycle(block)
            throw error
        }
        return Data(bytesNoCopy: block.start, count: count, deallocator: .custom { _, _ in self.recycle(block) })
    }

    private func recycle(_ block: Block) {
        let isKept = spare.withLock { spare in
            guard spare.count < Self.maximumSpare else { return false }
            spare.append(block)
            return true
        }
        if !isKept { block.start.deallocate() }
    }
}
