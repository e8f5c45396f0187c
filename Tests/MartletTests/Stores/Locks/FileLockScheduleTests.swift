import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

/// Threads that run one at a time, from step to step, in a given order of steps.
private final class StepScheduler: Sendable {
    private struct Participant {
        var mayContinue = DispatchSemaphore(value: 0)
        var hasEnded = false
    }

    private let participants: Locked<[Participant]>
    private let hasPaused = DispatchSemaphore(value: 0)

    init(count: Int) {
        participants = Locked((0..<count).map { _ in Participant() })
    }

    /// The participants that have not ended.
    var waiting: [Int] {
        participants.withLock { participants in participants.indices.filter { !participants[$0].hasEnded } }
    }

    /// Starts a participant on a thread of its own. It waits for its first step, and pauses between its steps.
    func start(_ index: Int, _ act: @escaping @Sendable (_ pause: @escaping @Sendable () -> Void) -> Void) {
        let mayContinue = participants.withLock { $0[index].mayContinue }
        Thread.detachNewThread { [self] in
            mayContinue.wait()
            act {
                self.hasPaused.signal()
                mayContinue.wait()
            }
            participants.withLock { $0[index].hasEnded = true }
            hasPaused.signal()
        }
    }

    /// Lets a participant run until its next pause or its end.
    func step(of index: Int) {
        participants.withLock { $0[index].mayContinue }.signal()
        hasPaused.wait()
    }
}

/// One run of a takeover race, in a given order of steps, and its result.
private struct TakeoverRun: Sendable {
    /// For each step, which of the waiting participants was chosen, and how many there were.
    var steps: [(choice: Int, of: Int)] = []
    var problem: String?
    /// Whether another process has taken over the lock.
    var wasTakenAway = false
    /// Whether the old holder has acquired the lock again.
    var wasTakenAnew = false

    /// Runs the race: a holder that was considered dead releases the lock and acquires it again while other processes
    /// take it over.
    /// - Parameter choose: Chooses the participant of each step: an index below `count`.
    static func play(takers: Int, choose: (_ step: Int, _ count: Int) -> Int) throws -> TakeoverRun {
        var run = TakeoverRun()
        let folder = FileManager.default.temporaryDirectory.path + "/martlet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/a.lock"
        let lock = FileLock(path: path, steps: .unobserved)
        guard case .acquired(let old) = try lock.attempt(), case .busy(let holder) = try lock.attempt() else {
            run.problem = "a new lock could not be acquired"
            return run
        }
        let claims = Locked<[Int: FileLock.Claim]>([:])
        let scheduler = StepScheduler(count: takers + 1)
        scheduler.start(0) { pause in
            old.release()
            pause()
            let lock = FileLock(path: path, steps: FileSteps { _ in pause() })
            guard case .acquired(let claim) = try? lock.attempt() else { return }
            claims.withLock { $0[0] = claim }
        }
        for index in 1...takers {
            scheduler.start(index) { pause in
                let lock = FileLock(path: path, steps: FileSteps { _ in pause() })
                guard let claim = try? lock.takeAway(from: holder) else { return }
                claims.withLock { $0[index] = claim }
            }
        }
        while case let waiting = scheduler.waiting, !waiting.isEmpty {
            let choice = min(choose(run.steps.count, waiting.count), waiting.count - 1)
            run.steps.append((choice, waiting.count))
            scheduler.step(of: waiting[choice])
            if claims.withLock({ Array($0.values) }).count(where: \.isValid) > 1 {
                run.problem = "two claims are held at once"
            }
        }
        let taken = claims.withLock { $0 }
        // No lease has expired since, so a process that acquired the lock must still hold it.
        if taken.count > 1 || !taken.values.allSatisfy(\.isValid) { run.problem = "acquired by \(taken.keys.sorted())" }
        for claim in taken.values { claim.release() }
        run.wasTakenAnew = taken[0] != nil
        run.wasTakenAway = !run.wasTakenAnew && !taken.isEmpty
        guard case .acquired(let next) = try lock.attempt() else {
            run.problem = "the lock is free but cannot be acquired"
            return run
        }
        next.release()
        return run
    }
}

@Suite("Orders of lock operations", .timeLimit(.minutes(10))) struct FileLockScheduleTests {
    @Test("C26: acquiring and taking over the lock never both succeed, in any order of steps") func everyOrder()
        async throws
    {
        let runs = try await onThread {
            var runs: [TakeoverRun] = []
            var next: [Int]? = []
            while let order = next {
                let run = try TakeoverRun.play(takers: 1) { step, _ in step < order.count ? order[step] : 0 }
                runs.append(run)
                // The next order differs from this one as late as possible.
                let last = run.steps.lastIndex { $0.choice + 1 < $0.of }
                next = last.map { run.steps[..<$0].map(\.choice) + [run.steps[$0].choice + 1] }
            }
            return runs
        }
        expectNoProblem(runs)
        #expect(runs.count > 20, "too few orders were tried")
        #expect(runs.contains { $0.wasTakenAway } && runs.contains { $0.wasTakenAnew })
    }

    @Test("C26: at most one of several processes takes over the lock, and never from its new holder")
    func manyTakers() async throws {
        let runs = try await onThread {
            var random = SeededGenerator(seed: 26)
            return try (0..<100).map { _ in
                try TakeoverRun.play(takers: 3) { _, count in Int.random(in: 0..<count, using: &random) }
            }
        }
        expectNoProblem(runs)
    }

    private func expectNoProblem(_ runs: [TakeoverRun]) {
        for run in runs { #expect(run.problem == nil, "in the order \(run.steps.map(\.choice))") }
    }

    /// Runs the body on a thread that may block.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}
