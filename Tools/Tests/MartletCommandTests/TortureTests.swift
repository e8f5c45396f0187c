import ArgumentParser
import Foundation
import MartletTesting
import Testing

@testable import MartletCommand

// Serialized, so that the processes of one test do not delay those of another.
@Suite("Torture command", .serialized, .timeLimit(.minutes(10))) struct TortureTests {
    @Test(
        "A round over each store passes in each mode, prints the table and leaves no files behind",
        arguments: TortureMode.allCases)
    func passes(mode: TortureMode) async throws {
        // The seed plans a kill in each round and no stop. So the lease can be the longest one, and a process on a busy
        // machine is not mistaken for a stopped one.
        let run = try await CommandRun(
            "torture", "--rounds", "3", "--mode", mode.rawValue, "--seed", "373", "--processes", "3",
            "--lease", "10000")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("seed 373"))
        #expect(run.figure("rounds") == 3)
        #expect(run.figure("  over encrypted files").map { $0 > 0 } == true)
        #expect(run.figure("  over the Secret Service").map { $0 > 0 } == Keyring.isInstalled)
        #expect(run.figure("calls").map { $0 > 0 } == true)
        #expect(run.figure("kills").map { $0 > 0 } == mode.injectsFaults)
        #expect(run.figure("deadlocks") == 0)
        #expect(run.leftovers == [])
    }

    @Test(
        "Without the lock it fails over each store, and prints how to reproduce the failure",
        arguments: TortureStore.allCases.filter { $0 != .secretService || Keyring.isInstalled })
    func fails(store: TortureStore) async throws {
        let run = try await CommandRun(
            "torture", "--without-lock", "--rounds", "12", "--mode", "calm", "--store", store.rawValue, "--seed", "7",
            "--processes", "4", "--hardship", "none")
        #expect(run.status == 1, "\(run.output)")
        #expect(run.figure("reuse detections").map { $0 > 0 } == true)
        #expect(run.figure("  unexplained") == run.figure("reuse detections"))
        #expect(
            run.output.contains(
                "martlet torture --mode calm --store \(store.rawValue) --rounds 12 --processes 4 --seed 7"))
        #expect(run.leftovers == [])
    }

    @Test("The processes use their caches, cookies, joined calls and kept parts of downloads") func features()
        async throws
    {
        let run = try await CommandRun(
            "torture", "--rounds", "12", "--mode", "calm", "--store", "file", "--seed", "7", "--processes", "4")
        #expect(run.status == 0, "\(run.output)")
        for row in ["  from a cache", "  joined", "  with a cookie", "downloads broken off", "  resumed"] {
            #expect(run.figure(row).map { $0 > 0 } == true, "\(row): \(run.output)")
        }
    }

    @Test(
        "A planted fault is found by its rule",
        arguments: zip(
            [PlantedFault.sharedCache, .sharedCookies, .sharedParts, .silentStore, .trustedClock],
            [
                ("content of a former session", "40", HardshipChoice.none),
                ("content of a former session", "40", .none),
                ("content of a former session", "40", .none), ("other violations", "2", .watch),
                ("unexpected sign-outs", "2", .clock),
            ]))
    func plantedFault(fault: PlantedFault, setting: (row: String, rounds: String, hardship: HardshipChoice))
        async throws
    {
        let row = setting.row
        let run = try await CommandRun(
            "torture", "--fault", fault.rawValue, "--rounds", setting.rounds, "--mode", "calm", "--store", "file",
            "--seed", "7", "--processes", "4", "--hardship", setting.hardship.rawValue)
        #expect(run.status == 1, "\(run.output)")
        #expect(run.figure(row).map { $0 > 0 } == true, "\(run.output)")
        #expect(run.leftovers == [])
    }

    @Test("A time limit ends it early, and leaves no files behind") func timeLimit() async throws {
        let run = try await CommandRun(
            "torture", "--rounds", "100000", "--seconds", "1", "--mode", "calm", "--store", "file", "--processes", "2")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.figure("rounds").map { $0 < 100_000 } == true)
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
            (["--mode", "wild"], "calm"), (["--store", "cloud"], "secret-service"),
            (["--seconds", "0"], "--seconds must be 1 or more."), (["--hardship", "rain"], "watch"),
            (["--transport", "pigeon"], "url-session"),
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
