#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One pass over the body of a response. It ends with the session of the call, even while no bytes arrive.
///
/// A separate task reads the body on demand, because the task that waits for bytes must return as soon as the session
/// ends.
final class SessionBoundBody: Sendable {
    private let requests: AsyncStream<Race<Data?>>.Continuation
    private let reader: Task<Void, Never>
    private let tokens: TokenManager
    private let owner: CallOwner

    init(_ body: ByteStream, tokens: TokenManager, owner: CallOwner) {
        let (stream, requests) = AsyncStream<Race<Data?>>.makeStream()
        self.requests = requests
        self.tokens = tokens
        self.owner = owner
        self.reader = Task {
            let iterator = body.makeAsyncIterator()
            for await request in stream {
                do {
                    request.finish(.success(try await iterator.next()))
                } catch {
                    request.finish(.failure(error))
                }
            }
        }
    }

    deinit { stop() }

    /// The next bytes; `nil` at the end.
    /// - Throws: ``SessionError`` if the session ends, and the errors of the body.
    func next() async throws -> Data? {
        let race = Race<Data?>()
        return try await tokens.whileCurrent(owner, race) {
            // An earlier wait was cancelled, and has ended the pass.
            if case .terminated = self.requests.yield(race) { race.finish(.failure(CancellationError())) }
        } onEnd: {
            self.stop()
        }
    }

    private func stop() {
        requests.finish()
        reader.cancel()
    }
}

extension TokenManager {
    /// Waits for a result, but no longer than the session of a call lasts.
    /// - Parameters:
    ///   - owner: The owner of the call.
    ///   - race: Gets the result.
    ///   - start: Starts the work that finishes the race.
    ///   - onEnd: Stops the work, because the session has ended or the task is cancelled.
    /// - Throws: ``SessionError`` if the session ends first, and the failure of the race.
    func whileCurrent<Value: Sendable>(
        _ owner: CallOwner, _ race: Race<Value>, start: () -> Void, onEnd: @escaping @Sendable () -> Void
    ) async throws -> Value {
        let stopWatching = self.onEnd(of: owner) { [weak self] in
            race.finish(.failure(self?.endError(for: owner) ?? SessionError.sessionChanged))
            onEnd()
        }
        defer { stopWatching() }
        start()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { race.wait($0) }
        } onCancel: {
            race.finish(.failure(CancellationError()))
            onEnd()
        }.get()
    }
}
