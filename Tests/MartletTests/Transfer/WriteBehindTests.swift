import Dispatch
import Foundation
import Testing

@testable import Martlet

private struct Full: Error {}

/// Takes what is written, and can be told to wait or to fail.
private final class Sink: Sendable {
    let bytes = Locked(Data())
    let calls = Locked(0)
    /// The most that was written at once.
    let largest = Locked(0)
    let fails = Locked(false)
    /// Each write takes one.
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

@Suite("Writing while more comes", .timeLimit(.minutes(1))) struct WriteBehindTests {
    private let sink = Sink()

    @Test("keeps the order, whatever the sizes of the pieces") func order() async throws {
        let writer = WriteBehind(sink.write)
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

    @Test("writes what little there is at the end, even if it is nothing", arguments: [0, 1, 3]) func little(count: Int)
        async throws
    {
        let writer = WriteBehind(sink.write)
        for _ in 0..<count { try await writer.add(Data([7])) }
        #expect(try await writer.finish() == Int64(count))
        #expect(sink.calls.withLock { $0 } == 1)
    }

    @Test("takes no more than a few portions while the disk does not come back") func backlog() async throws {
        let permits = DispatchSemaphore(value: 0)
        sink.permits.withLock { $0 = permits }
        let writer = WriteBehind(sink.write)
        let added = Locked(0)
        let adding = Task {
            for _ in 0..<100 {
                try await writer.add(Data(count: 128 * 1024))
                added.withLock { $0 += 1 }
            }
            return try await writer.finish()
        }
        // As much is being written, or about to be, as may wait then: a megabyte each.
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

    @Test("tells whoever adds or finishes that it has failed, and writes nothing after that") func failure()
        async throws
    {
        sink.fails.withLock { $0 = true }
        let writer = WriteBehind(sink.write)
        await #expect(throws: Full.self) {
            while true { try await writer.add(Data(count: 64 * 1024)) }
        }
        sink.fails.withLock { $0 = false }
        await #expect(throws: Full.self) { try await writer.add(Data([1])) }
        await #expect(throws: Full.self) { _ = try await writer.finish() }
        #expect(sink.calls.withLock { $0 } == 1)
    }

    @Test("tells at the end what the last write has thrown") func lateFailure() async throws {
        sink.fails.withLock { $0 = true }
        let writer = WriteBehind(sink.write)
        try await writer.add(Data([1]))
        await #expect(throws: Full.self) { _ = try await writer.finish() }
    }
}
