import Martlet
import MartletTesting

/// A thread-safe list of lines in the order they were added.
final class Log: Sendable {
    private let state = Locked<[String]>([])
    var lines: [String] { state.withLock { $0 } }

    func add(_ line: String) { state.withLock { $0.append(line) } }

    func waitForLines(_ count: Int) async {
        while lines.count < count { await Task.yield() }
    }
}

/// A transport that never responds and logs its cancellation.
struct SilentTransport {
    let log = Log()
    let stub: StubTransport

    init() {
        stub = StubTransport { [log] _ in
            log.add("came")
            await waitForCancellation()
            log.add("cancelled")
            throw CancellationError()
        }
    }
}

/// Suspends until the task is cancelled.
func waitForCancellation() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
}
