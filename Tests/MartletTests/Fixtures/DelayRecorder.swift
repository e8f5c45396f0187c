import Martlet

/// Records the delays between attempts, and `nil` at the end of the call.
struct DelayRecorder: NetworkObserver {
    let delays: AsyncStream<Duration?>.Continuation

    func observe(_ event: CallEvent) {
        switch event {
        case .retrying(_, let delay, _): delays.yield(delay)
        case .finished: delays.yield(nil)
        default: break
        }
    }
}
