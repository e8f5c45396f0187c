import Testing

@testable import MartletCommand

// In the torture's suite, since one of them at a time is enough for a machine.
extension TortureTests {
    @Test("A writer that is killed leaves no torn record, and none is lost that it has said to be stored")
    func kills() async throws {
        let run = try await CommandRun("kills", "--rounds", "60", "--seed", "7")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("\nFileTokenStore: 60 kills, 0 torn, 0 lost"), "\(run.output)")
        #expect(run.output.contains("\nEncryptedFileTokenStore: 60 kills, 0 torn, 0 lost"), "\(run.output)")
        #expect(run.output.contains("\nDownloads: 60 kills, 0 torn, 0 files left behind"), "\(run.output)")
        #expect(run.leftovers == [])
    }

    @Test("A writer that is killed leaves torn records where it writes in place, which is told")
    func killsInPlace() async throws {
        let run = try await CommandRun("kills", "--rounds", "200", "--seed", "7", "--in-place")
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.contains("\nFileTokenStore: 200 kills"))
        #expect(!run.output.contains("\nFileTokenStore: 200 kills, 0 torn"), "\(run.output)")
        #expect(run.leftovers == [])
    }
}

@Suite("The moments of kills") struct KillMomentTests {
    @Test("are the same for the same seed, and others for another one") func seeds() {
        func moments(_ seed: UInt64) -> [KillMoment] { (0..<50).map { KillMoment(seed: seed, round: $0) } }
        #expect(moments(1) == moments(1))
        #expect(moments(1) != moments(2))
        #expect(moments(1).contains { $0.reports == 0 })
    }
}
