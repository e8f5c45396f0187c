import Martlet
import Testing

@testable import MartletUI

@Suite("Upload progress", .english, .timeLimit(.minutes(10))) struct UploadProgressTests {
    @Test("each step has a label") func words() {
        var progress = UploadProgress()
        #expect(progress.label == "Preparing…")
        #expect(progress.fraction == nil)
        progress.apply(.attempt(1))
        #expect(progress.label == "Sending…")
        progress.apply(.sent(TransferCount(completed: 10, total: nil)))
        #expect(progress.label == "Sending…")
        progress.apply(.sent(TransferCount(completed: 2, total: 5)))
        #expect(progress.label == "Sending: 40%")
        #expect(progress.fraction == 0.4)
        progress.apply(.received(TransferCount(completed: 1, total: 1)))
        #expect(progress.label == "Sending: 40%")
        progress.apply(.attempt(2))
        #expect(progress.fraction == nil)
        progress.apply(.sent(TransferCount(completed: 999, total: 1000)))
        #expect(progress.label == "Sending again: 99%")
        progress.apply(.sent(TransferCount(completed: 1000, total: 1000)))
        #expect(progress.label == "Almost done…")
    }

    @Test("a monitor without events is at the start") func monitor() {
        #expect(UploadProgress(TransferMonitor()) == UploadProgress())
    }
}
