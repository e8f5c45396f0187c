import ArgumentParser
import Foundation
import MartletTesting
import Testing

@testable import MartletCommand

// Serialized and with a long lease, so that a process on a busy machine is not mistaken for a stopped one.
@Suite("Torture command", .serialized) struct TortureTests {
    @Test("Three rounds pass in each mode, print the table and leave no files behind", arguments: TortureMode.allCases)
    func passes(mode: TortureMode) async throws {
        let run = try await CommandRun(
            "torture", "--rounds", "3", "--mode", mode.rawValue, "--seed", "7", "--processes", "3", "--lease", "3000")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("seed 7"))
        #expect(run.figure("rounds") == 3)
        #expect(run.figure("calls").map { $0 > 0 } == true)
        #expect(run.figure("deadlocks") == 0)
        #expect(run.leftovers == [])
    }

    @Test("Without the lock, it fails and prints how to reproduce the failure") func fails() async throws {
        let run = try await CommandRun(
            "torture", "--without-lock", "--rounds", "12", "--mode", "calm", "--seed", "7", "--processes", "4")
        #expect(run.status == 1, "\(run.output)")
        #expect(run.figure("reuse detections").map { $0 > 0 } == true)
        #expect(run.output.contains("Reproduce with: martlet torture --mode calm --rounds 12 --processes 4 --seed 7"))
        #expect(run.leftovers == [])
    }

    @Test("An interrupt ends it and leaves no files behind") func interruption() async throws {
        let run = try await CommandRun(
            "torture", "--rounds", "100000", "--mode", "calm", "--processes", "3", interruptedAfter: "of 100,000")
        #expect(run.status == 130, "\(run.output)")
        #expect(run.output.contains("Interrupted before the last round."))
        #expect(run.leftovers == [])
    }

    @Test(
        "Invalid option values are rejected with the valid range",
        arguments: [
            (["--rounds", "0"], "--rounds must be 1 or more."),
            (["--processes", "9"], "--processes must be from 2 to 8."),
            (["--lease", "5"], "--lease must be from 200 to 10000."),
            (["--mode", "wild"], "calm"),
            (["--seed", "-1"], "--seed"),
        ])
    func options(arguments: [String], message: String) {
        let error = #expect(throws: (any Error).self) { try TortureCommand.parse(arguments) }
        #expect(error.map { TortureCommand.message(for: $0).contains(message) } == true)
    }

    @Test("Equal seeds plan equal faults, and different seeds different ones") func seeds() {
        let settings = TortureSettings(rounds: 1, seed: 0, processes: 8, lease: .milliseconds(800))
        func plans(_ seed: UInt64) -> [[WorkerFaultInjector.Plan]] {
            (1...50).map { round in
                var random = SeededGenerator(seed: seed, 1, round)
                return WorkerFaultInjector.Plan.random(for: settings, using: &random)
            }
        }
        #expect(plans(1) == plans(1))
        #expect(plans(1) != plans(2))
        #expect(plans(1).contains([]))
        #expect(plans(1).contains { $0.count > 1 })
    }

    @Test("A worker's name round-trips through its user agent") func userAgent() {
        let name = WorkerName(slot: 3, generation: 17)
        #expect(WorkerName(userAgent: name.userAgent) == name)
        #expect(WorkerName(userAgent: "curl/8.1") == nil)
    }
}
