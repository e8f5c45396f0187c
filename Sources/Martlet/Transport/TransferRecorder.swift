/// Collects the metrics of one request while its transport sends it.
///
/// The client binds ``current`` only for a call that has observers, so that a transport measures nothing for the
/// others.
final class TransferRecorder: Sendable {
    /// The recorder of the request that the task sends.
    @TaskLocal static var current: TransferRecorder?

    private struct State {
        var metrics = TransferMetrics()
        /// The number of body bytes that a reader got.
        var bytesRead: Int64 = 0
        var bodyIsNotDecoded = false
    }

    private let time: any TimeSource
    private let startedAt: Duration
    private let state = Locked(State())

    init(time: any TimeSource) {
        self.time = time
        self.startedAt = time.uptime
    }

    var metrics: TransferMetrics { state.withLock { $0.metrics } }

    func update(_ change: (inout TransferMetrics) -> Void) {
        state.withLock { change(&$0.metrics) }
    }

    /// Records the arrival of the head. Only the first call counts.
    func receiveHead() {
        let elapsed = time.uptime - startedAt
        update { $0.firstByte = $0.firstByte ?? elapsed }
    }

    /// Records the end of the response. Only the first call counts.
    func finish() {
        let elapsed = time.uptime - startedAt
        state.withLock { state in
            guard state.metrics.receiving == nil, let firstByte = state.metrics.firstByte else { return }
            state.metrics.receiving = elapsed - firstByte
            if state.bodyIsNotDecoded { state.metrics.bodyBytesReceived = state.bytesRead }
        }
    }

    /// Records that the transport does not decode the response, so that the bytes read are the bytes received.
    func bodyIsNotDecoded() {
        state.withLock { $0.bodyIsNotDecoded = true }
    }

    func read(_ count: Int) {
        state.withLock { $0.bytesRead += Int64(count) }
    }

    /// Returns the same body as a stream that reports the bytes read, and the end, to this recorder.
    func watching(_ body: ByteStream) -> ByteStream {
        ByteStream {
            let iterator = body.makeAsyncIterator()
            return {
                guard let chunk = try await iterator.next() else {
                    self.finish()
                    return nil
                }
                self.read(chunk.count)
                return chunk
            }
        }
    }
}
