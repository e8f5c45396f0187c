#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Blocks of memory for the chunks of one pass over a file, used again and again.
///
/// The system clears fresh memory before it hands it out; for chunk after chunk of a large file that takes longer than
/// to read them.
final class ChunkMemory: Sendable {
    /// `@unchecked Sendable` is right because a block belongs to nobody while it lies here, and to one chunk otherwise.
    private struct Block: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    /// How many blocks are kept when no chunk needs them.
    private static let maximumSpare = 4

    private let size: Int
    private let spare = Locked<[Block]>([])

    /// - Parameter size: How many bytes a block has.
    init(blockSize size: Int) {
        self.size = size
    }

    deinit {
        for block in spare.withLock({ $0 }) { block.start.deallocate() }
    }

    /// A chunk of the bytes that are put into a block, which is given back with the last reference to the chunk.
    /// - Parameter fill: Is given room for a whole block and says how many bytes it has put there.
    func chunk(
        _ fill: (UnsafeMutableRawBufferPointer) throws(FileProblem) -> Int
    ) throws(FileProblem) -> Data {
        let block =
            spare.withLock { $0.popLast() } ?? Block(start: .allocate(byteCount: size, alignment: 16))
        let count: Int
        do throws(FileProblem) {
            count = try fill(UnsafeMutableRawBufferPointer(start: block.start, count: size))
        } catch {
            giveBack(block)
            throw error
        }
        return Data(bytesNoCopy: block.start, count: count, deallocator: .custom { _, _ in self.giveBack(block) })
    }

    private func giveBack(_ block: Block) {
        let isKept = spare.withLock { spare in
            guard spare.count < Self.maximumSpare else { return false }
            spare.append(block)
            return true
        }
        if !isKept { block.start.deallocate() }
    }
}
