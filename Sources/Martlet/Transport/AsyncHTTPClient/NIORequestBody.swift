#if AsyncHTTPClient
    internal import NIOCore

    /// The request body as the sequence of buffers that async-http-client reads. When it is released, the
    /// ``BodyBridge`` stops reading the stream.
    struct NIORequestBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        /// The number of bytes after which the connection's event loop must confirm that it has caught up. The loop
        /// holds at most twice as many.
        private static let confirmationInterval = 512 * 1024

        /// Stops the bridge when the last copy of the sequence is released.
        private final class Hold: Sendable {
            let bridge: BodyBridge

            init(_ bridge: BodyBridge) { self.bridge = bridge }

            deinit { bridge.stop() }
        }

        private let hold: Hold
        private let loops: any EventLoopGroup

        init(_ bridge: BodyBridge, loops: any EventLoopGroup) {
            self.hold = Hold(bridge)
            self.loops = loops
        }

        /// The one pass over the body. It waits for the event loop after each interval.
        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let body: NIORequestBody
            private var sinceMilestone = 0
            private var milestone: Milestone?

            fileprivate init(body: NIORequestBody) {
                self.body = body
            }

            mutating func next() async throws -> ByteBuffer? {
                if sinceMilestone >= NIORequestBody.confirmationInterval {
                    sinceMilestone = 0
                    await milestone?.reached()
                    milestone = Milestone(on: body.loops)
                }
                guard let piece = try await body.hold.bridge.next() else { return nil }
                sinceMilestone += piece.readableBytes
                return piece
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(body: self)
        }
    }

    /// A point in the body, and whether the connection's event loop has reached it.
    ///
    /// A write only adds to the queue of the event loop. A fast stream would fill that queue with the whole body before
    /// the loop could report that its socket is full. The connection's loop is unknown here, so a milestone waits for
    /// all loops. Before the sequence sets a milestone, it waits for the previous one, which the loops have usually
    /// passed by then.
    private final class Milestone: Sendable {
        private struct State {
            var loopsToCome = 0
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state = Locked(State())

        init(on loops: any EventLoopGroup) {
            let loops = Array(loops.makeIterator())
            state.withLock { $0.loopsToCome = loops.count }
            for loop in loops {
                loop.execute { self.pass() }
            }
        }

        /// Returns when all loops have reached this point.
        func reached() async {
            guard state.withLock({ $0.loopsToCome > 0 }) else { return }
            await withCheckedContinuation { waiter in
                let isReached = state.withLock { state in
                    guard state.loopsToCome > 0 else { return true }
                    state.waiter = waiter
                    return false
                }
                if isReached { waiter.resume() }
            }
        }

        private func pass() {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.loopsToCome -= 1
                guard state.loopsToCome == 0 else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
#endif
