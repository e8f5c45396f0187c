#if AsyncHTTPClient
    internal import NIOCore

    /// What async-http-client iterates. Letting go of it stops the reading.
    struct HandedBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        /// After how many bytes the connection's loop is asked to say when it has come that far. It has twice as many in
        /// its hands at the most.
        private static let stretch = 512 * 1024

        private final class Hold: Sendable {
            let handoff: BodyHandoff

            init(_ handoff: BodyHandoff) { self.handoff = handoff }

            deinit { handoff.stop() }
        }

        private let hold: Hold
        private let loops: any EventLoopGroup

        init(_ handoff: BodyHandoff, loops: any EventLoopGroup) {
            self.hold = Hold(handoff)
            self.loops = loops
        }

        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let body: HandedBody
            private var sinceMilestone = 0
            private var milestone: Milestone?

            fileprivate init(body: HandedBody) {
                self.body = body
            }

            mutating func next() async throws -> ByteBuffer? {
                if sinceMilestone >= HandedBody.stretch {
                    sinceMilestone = 0
                    await milestone?.reached()
                    milestone = Milestone(on: body.loops)
                }
                guard let piece = try await body.hold.handoff.next() else { return nil }
                sinceMilestone += piece.readableBytes
                return piece
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(body: self)
        }
    }

    /// A point in what has been handed to the connection, and whether its loop has come there.
    ///
    /// Pieces only join the loop's queue, and a fast stream would fill that with the whole body before the loop gets to
    /// look at it and can say that its socket is full. Which loop is the connection's is not to be known, so all of them
    /// are asked; it is the milestone before the last that is waited for, which they have passed as a rule.
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

        /// Returns once all loops have come here.
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
