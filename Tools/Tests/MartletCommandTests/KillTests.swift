import Testing

@testable import MartletCommand

// Part of the serialized torture suite, so that the two do not run in parallel.
extension TortureTests {
    @Test("A killed writer leaves no torn record and loses none that it reported as stored")
    func kills() async throws {
        // With 50 rounds or more the command fails unless a kill hits a write, which depends on the machine.
        let run = try await CommandRun("kills", "--rounds", "49", "--seed", "7")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("\nFileTokenStore: 49 kills, 0 torn, 0 lost"), "\(run.output)")
        #expect(run.output.contains("\nEncryptedFileTokenStore: 49 kills, 0 torn, 0 lost"), "\(run.output)")
        #expect(run.output.contains("\nDownloads: 49 kills, 0 torn, 0 files left behind"), "\(run.output)")
        #expect(run.leftovers == [])
    }

    @Test("Torn records of a killed in-place writer are detected")
    func killsInPlace() async throws {
        let run = try await CommandRun("kills", "--rounds", "200", "--seed", "7", "--in-place")
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.contains("\nFileTokenStore: 200 kills"))
        #expect(!run.output.contains("\nFileTokenStore: 200 kills, 0 torn"), "\(run.output)")
        #expect(run.leftovers == [])
    }
}

@Suite("Kill moments", .timeLimit(.minutes(10))) struct KillMomentTests {
    @Test("Equal seeds give equal moments, and different seeds different ones") func seeds() {
        func moments(_ seed: UInt64) -> [KillMoment] { (0..<50).map { KillMoment(seed: seed, round: $0) } }
        #expect(moments(1) == moments(1))
        #expect(moments(1) != moments(2))
        #expect(moments(1).contains { $0.reports == 0 })
    }
}
