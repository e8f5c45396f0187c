import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// Threads that go on one at a time, from one step to the next, in an order that is given.
private final class Stage: Sendable {
    private struct Actor {
        var mayGoOn = DispatchSemaphore(value: 0)
        var hasEnded = false
    }

    private let actors: Locked<[Actor]>
    private let hasPaused = DispatchSemaphore(value: 0)

    init(count: Int) {
        actors = Locked((0..<count).map { _ in Actor() })
    }

    /// Who has not ended yet.
    var waiting: [Int] { actors.withLock { actors in actors.indices.filter { !actors[$0].hasEnded } } }

    /// Starts an actor, which waits for its first turn.
    func start(_ index: Int, _ act: @escaping @Sendable (_ pause: @escaping @Sendable () -> Void) -> Void) {
        let mayGoOn = actors.withLock { $0[index].mayGoOn }
        Thread.detachNewThread { [self] in
            mayGoOn.wait()
            act {
                self.hasPaused.signal()
                mayGoOn.wait()
            }
            actors.withLock { $0[index].hasEnded = true }
            hasPaused.signal()
        }
    }

    /// Lets one go on up to its next step.
    func turn(of index: Int) {
        actors.withLock { $0[index].mayGoOn }.signal()
        hasPaused.wait()
    }
}

/// A holder that was taken for dead lets go and takes the lock anew, while others take it away.
private struct Scene: Sendable {
    /// The order of turns that was played, with how many could have had each.
    var played: [(choice: Int, of: Int)] = []
    var problem: String?
    var wasTakenAway = false
    var wasTakenAnew = false

    init(takers: Int, choose: (_ turn: Int, _ count: Int) -> Int) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/martlet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/a.lock"
        let lock = FileLock(path: path, steps: .untold)
        guard case .taken(let old) = try lock.attempt(), case .busy(let holder) = try lock.attempt() else {
            problem = "a new lock could not be taken"
            return
        }
        let claims = Locked<[Int: FileLock.Claim]>([:])
        let stage = Stage(count: takers + 1)
        stage.start(0) { pause in
            old.drop()
            pause()
            let lock = FileLock(path: path, steps: FileSteps { _ in pause() })
            guard case .taken(let claim) = try? lock.attempt() else { return }
            claims.withLock { $0[0] = claim }
        }
        for index in 1...takers {
            stage.start(index) { pause in
                let lock = FileLock(path: path, steps: FileSteps { _ in pause() })
                guard let claim = try? lock.takeAway(from: holder) else { return }
                claims.withLock { $0[index] = claim }
            }
        }
        while case let waiting = stage.waiting, !waiting.isEmpty {
            let choice = min(choose(played.count, waiting.count), waiting.count - 1)
            played.append((choice, waiting.count))
            stage.turn(of: waiting[choice])
            if claims.withLock({ $0.values.count { $0.stands } }) > 1 { problem = "two hold it" }
        }
        let taken = claims.withLock { $0 }
        // No lease has run out since, so whoever was given the lock must still have it.
        if taken.count > 1 || !taken.values.allSatisfy(\.stands) { problem = "given to \(taken.keys.sorted())" }
        for claim in taken.values { claim.drop() }
        wasTakenAnew = taken[0] != nil
        wasTakenAway = !wasTakenAnew && !taken.isEmpty
        guard case .taken(let next) = try lock.attempt() else {
            problem = "nobody holds it, and nobody can take it"
            return
        }
        next.drop()
    }
}

@Suite("The lock's row of files, in other orders") struct FileLockScheduleTests {
    @Test("C26: who takes the lock and who takes it away never both have it, whatever comes first") func everyOrder()
        async throws
    {
        let scenes = try await onThread {
            var scenes: [Scene] = []
            var next: [Int]? = []
            while let order = next {
                let scene = try Scene(takers: 1) { turn, _ in turn < order.count ? order[turn] : 0 }
                scenes.append(scene)
                // The next order differs as late as possible.
                let last = scene.played.lastIndex { $0.choice + 1 < $0.of }
                next = last.map { scene.played[..<$0].map(\.choice) + [scene.played[$0].choice + 1] }
            }
            return scenes
        }
        expectNoProblem(scenes)
        #expect(scenes.count > 20, "these are not all")
        #expect(scenes.contains { $0.wasTakenAway } && scenes.contains { $0.wasTakenAnew })
    }

    @Test("C26: of several who take the lock away at most one gets it, and none from its new holder")
    func manyTakers() async throws {
        let scenes = try await onThread {
            var random = SeededGenerator(seed: 26)
            return try (0..<100).map { _ in
                try Scene(takers: 3) { _, count in Int.random(in: 0..<count, using: &random) }
            }
        }
        expectNoProblem(scenes)
    }

    private func expectNoProblem(_ scenes: [Scene]) {
        for scene in scenes { #expect(scene.problem == nil, "in the order \(scene.played.map(\.choice))") }
    }

    /// Runs the body where it may block.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}
