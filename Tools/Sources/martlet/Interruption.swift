internal import ArgumentParser
internal import Dispatch
internal import Foundation

/// Runs `body` and cancels its task on SIGINT or SIGTERM.
///
/// - Returns: The value of `body`.
/// - Throws: `ExitCode(130)` if a signal arrived, after `body` has returned and cleaned up.
func runUntilInterrupted<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async throws -> Value {
    // A write to the pipe of a dead child process must fail instead of killing this process.
    signal(SIGPIPE, SIG_IGN)
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let run = Task {
        for await _ in gate {}
        return await body()
    }
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler { run.cancel() }
        // Wait until the source is registered: an earlier signal would be ignored.
        await withCheckedContinuation { listening in
            source.setRegistrationHandler { listening.resume() }
            source.resume()
        }
        sources.append(source)
    }
    opening.finish()
    let value = await run.value
    for source in sources { source.cancel() }
    if run.isCancelled { throw ExitCode(130) }
    return value
}
