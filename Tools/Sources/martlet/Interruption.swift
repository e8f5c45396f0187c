internal import ArgumentParser
internal import Dispatch
internal import Foundation

/// Does something that Ctrl-C and SIGTERM cancel, and ends the command then once it has cleaned up.
func untilInterrupted<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async throws -> Value {
    // A process that dies takes its end of a pipe along.
    signal(SIGPIPE, SIG_IGN)
    let run = Task { await body() }
    let signals = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler { run.cancel() }
        source.resume()
        return source
    }
    let value = await run.value
    for source in signals { source.cancel() }
    if run.isCancelled { throw ExitCode(130) }
    return value
}
