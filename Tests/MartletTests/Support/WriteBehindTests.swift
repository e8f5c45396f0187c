import Dispatch
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

private struct Full: Error {}

/// A sink that can be made to block or fail.
private final class Sink: Sendable {
    let bytes = Locked(Data())
    let calls = Locked(0)
    /// The largest number of bytes written at once.
    let largest = Locked(0)
    let fails = Locked(false)
    /// Each write takes one permit.
    let permits = Locked<DispatchSemaphore?>(nil)

    @Sendable func write(_ pieces: [Data]) throws -> Int64 {
        permits.withLock { $0 }?.wait()
        calls.withLock { $0 += 1 }
        largest.withLock { $0 = max($0, pieces.reduce(0) { $0 + $1.count }) }
        if fails.withLock({ $0 }) { throw Full() }
        return bytes.withLock { bytes in
            for piece in pieces { bytes += piece }
            return Int64(bytes.count)
        }
    }
}

@Suite("Write-behind", .timeLimit(.minutes(10)), .noBlockingCalls) struct WriteBehindTests {
    private let sink = Sink()

    @Test("the order is kept for pieces of any size") func order() async throws {
        let writer = WriteBehind(on: BlockingQueue("tests"), sink.write)
        var all = Data()
        for number in 0..<2000 {
            let piece = Data(repeating: UInt8(truncatingIfNeeded: number), count: number * 7 % 5000)
            all += piece
            try await writer.add(piece)
        }
        #expect(try await writer.finish() == Int64(all.count))
        #expect(sink.bytes.withLock { $0 } == all)
        #expect(sink.calls.withLock { $0 } < 100)
    }

    @Test(
        "the remaining bytes are written at the end, even if there are none", arguments: [0, 1, 3]) func little(
            count: Int
        )
        async throws
    {
        let writer = WriteBehind(on: BlockingQueue("tests"), sink.write)
        for _ in 0..<count { try await writer.add(Data([7])) }
        #expect(try await writer.finish() == Int64(count))
        #expect(sink.calls.withLock { $0 } == 1)
    }

    @Test("the backlog is bounded while the disk blocks") func backlog() async throws {
        let permits = DispatchSemaphore(value: 0)
        sink.permits.withLock { $0 = permits }
        let writer = WriteBehind(on: BlockingQueue("tests"), sink.write)
        let added = Locked(0)
        let adding = Task {
            for _ in 0..<100 {
                try await writer.add(Data(count: 128 * 1024))
                added.withLock { $0 += 1 }
            }
            return try await writer.finish()
        }
        // At most a megabyte is being written, and another one waits.
        var before = -1
        while before != added.withLock({ $0 }) {
            before = added.withLock { $0 }
            for _ in 0..<20 { await Task.yield() }
        }
        #expect(before <= 16)
        for _ in 0..<100 { permits.signal() }
        #expect(try await adding.value == 100 * 128 * 1024)
        #expect(sink.largest.withLock { $0 } <= 1 << 20)
    }

    @Test("a failed write is thrown from add and finish, and nothing is written afterwards") func failure()
        async throws
    {
        sink.fails.withLock { $0 = true }
        let writer = WriteBehind(on: BlockingQueue("tests"), sink.write)
        await #expect(throws: Full.self) {
            while true { try await writer.add(Data(count: 64 * 1024)) }
        }
        sink.fails.withLock { $0 = false }
        await #expect(throws: Full.self) { try await writer.add(Data([1])) }
        await #expect(throws: Full.self) { _ = try await writer.finish() }
        #expect(sink.calls.withLock { $0 } == 1)
    }

    @Test("an error of the last write is thrown at the end") func lateFailure() async throws {
        sink.fails.withLock { $0 = true }
        let writer = WriteBehind(on: BlockingQueue("tests"), sink.write)
        try await writer.add(Data([1]))
        await #expect(throws: Full.self) { _ = try await writer.finish() }
    }
}
