#if !os(Linux) || URLSession || !AsyncHTTPClient
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @Suite("Foundation's Progress of a transfer", .timeLimit(.minutes(10))) struct FoundationProgressTests {
        @Test("it follows one direction and is indeterminate until the total is known") func follows() async {
            let monitor = TransferMonitor(interval: .zero)
            let progress = monitor.downloadProgress()
            #expect(progress.isIndeterminate)
            monitor.start(attempt: 1)
            monitor.send(TransferCount(completed: 5, total: 5))
            monitor.receive(TransferCount(completed: 25, total: 100))
            while progress.completedUnitCount != 25 { await Task.yield() }
            #expect(progress.totalUnitCount == 100)
            #expect(progress.fractionCompleted == 0.25)
            monitor.start(attempt: 2)
            monitor.receive(TransferCount(completed: 100, total: 100))
            while !progress.isFinished { await Task.yield() }
            #expect(progress.completedUnitCount == 100)
            monitor.finish()
        }

        @Test("the progress of an empty body is finished, not indeterminate") func empty() async {
            let monitor = TransferMonitor(interval: .zero)
            let progress = monitor.uploadProgress()
            monitor.start(attempt: 1)
            monitor.send(TransferCount(completed: 0, total: 0))
            while progress.isIndeterminate { await Task.yield() }
            #expect(progress.isFinished)
            #expect(progress.fractionCompleted == 1)
            monitor.finish()
        }

        @Test("a released progress stops listening") func released() async {
            let monitor = TransferMonitor(interval: .zero)
            _ = monitor.uploadProgress()
            // The next event finds the progress released.
            while monitor.subscriberCount > 0 {
                monitor.send(TransferCount(completed: 1, total: 2))
                await Task.yield()
            }
        }
    }
#endif
