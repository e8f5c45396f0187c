internal import ArgumentParser
internal import Dispatch
internal import Foundation

/// Does something that Ctrl-C and SIGTERM cancel, and ends the command then once it has cleaned up.
func untilInterrupted<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async throws -> Value {
    // A process that dies takes its end of a pipe along.
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
        // Until then a signal would be ignored, and whoever sent it would wait for ever.
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
