#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Blocks of memory for the chunks of one file on its way out or in, used again and again.
///
/// The system clears fresh memory before it hands it out; for chunk after chunk of a large file that takes longer than
/// to read them.
final class ChunkMemory: Sendable {
    /// `@unchecked Sendable` is right because a block belongs to nobody while it lies here, and to one chunk otherwise.
    fileprivate struct Block: @unchecked Sendable {
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
        let block = takeBlock()
        let count: Int
        do throws(FileProblem) {
            count = try fill(UnsafeMutableRawBufferPointer(start: block.start, count: size))
        } catch {
            giveBack(block)
            throw error
        }
        return data(of: block, count: count)
    }

    /// A block to be filled with bytes as they come.
    func filling() -> Filling {
        Filling(takeBlock(), of: self)
    }

    /// A block that is being filled by one task.
    final class Filling {
        private let block: Block
        private let memory: ChunkMemory
        private var count = 0
        private var isTaken = false

        fileprivate init(_ block: Block, of memory: ChunkMemory) {
            self.block = block
            self.memory = memory
        }

        deinit {
            if !isTaken { memory.giveBack(block) }
        }

        /// Whether there is no room left.
        var isFull: Bool { count == memory.size }

        /// Copies as many bytes as there is room for.
        /// - Returns: The others.
        func append(_ bytes: Data) -> Data {
            let fitting = bytes.prefix(memory.size - count)
            fitting.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                block.start.advanced(by: count).copyMemory(from: start, byteCount: bytes.count)
            }
            count += fitting.count
            return bytes.dropFirst(fitting.count)
        }

        /// What has been put in. Nothing more may be put in then.
        func take() -> Data {
            isTaken = true
            return memory.data(of: block, count: count)
        }
    }

    private func takeBlock() -> Block {
        spare.withLock { $0.popLast() } ?? Block(start: .allocate(byteCount: size, alignment: 16))
    }

    private func data(of block: Block, count: Int) -> Data {
        Data(bytesNoCopy: block.start, count: count, deallocator: .custom { _, _ in self.giveBack(block) })
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
