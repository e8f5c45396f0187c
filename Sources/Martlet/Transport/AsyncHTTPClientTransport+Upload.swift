#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import NIOCore

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// An outgoing body in the form that async-http-client wants.
    struct Upload {
        let body: HTTPClientRequest.Body?
        /// What reads the body's stream, if it is one.
        let handoff: BodyHandoff?

        /// Bytes up to this size go out as one buffer, a copy; larger ones piece by piece, so that no second copy of
        /// all of them stands in memory.
        private static let maximumBufferSize = 1024 * 1024

        init(_ body: OutgoingBody?, through loops: any EventLoopGroup) async throws {
            guard let body else {
                self.body = nil
                self.handoff = nil
                return
            }
            if case .bytes(let bytes) = body.content, bytes.count <= Self.maximumBufferSize {
                self.body = .bytes(bytes.withUnsafeBytes { ByteBuffer(bytes: $0) })
                self.handoff = nil
            } else if let length = body.length, length <= 0 {
                // async-http-client asks a body of no length for nothing, and would not notice one that has some.
                var pieces = OutgoingPieces(body)
                while try await pieces.next() != nil {}
                self.body = .bytes(ByteBuffer())
                self.handoff = nil
            } else {
                let handoff = BodyHandoff(body)
                self.body = .stream(
                    HandedBody(handoff, loops: loops),
                    length: body.length.map { .known($0) } ?? .unknown)
                self.handoff = handoff
            }
        }
    }

    /// Carries a body from the task that reads its stream to the connection, one piece at a time and on demand.
    ///
    /// async-http-client pulls a body from a task of its own that nobody can cancel: a stream that waits for something
    /// that never comes would hold it for ever. So the stream is read by a task of ours, which ``stop()`` cancels. That
    /// task also has the caller's priority and task-local values.
    final class BodyHandoff: Sendable {
        private enum Phase {
            /// The connection has asked for nothing, or the reader has been told and is at it.
            case quiet
            /// The reader waits to be asked.
            case readerWaits(CheckedContinuation<Bool, Never>)
            /// The connection waits for a piece.
            case connectionWaits(CheckedContinuation<Data?, any Error>)
            case over
        }

        private struct State {
            var phase = Phase.quiet
            var reader: Task<Void, Never>?
        }

        private let state = Locked(State())

        init(_ body: OutgoingBody) {
            let reader = Task { await self.read(body) }
            state.withLock { $0.reader = reader }
        }

        /// The next piece, for the connection.
        func next() async throws -> Data? {
            try await withCheckedThrowingContinuation { connection in
                let step = state.withLock { state -> Step in
                    switch state.phase {
                    case .over:
                        return .fail
                    case .readerWaits(let reader):
                        state.phase = .connectionWaits(connection)
                        return .wake(reader)
                    case .quiet, .connectionWaits:
                        state.phase = .connectionWaits(connection)
                        return .wait
                    }
                }
                switch step {
                case .fail: connection.resume(throwing: CancellationError())
                case .wake(let reader): reader.resume(returning: true)
                case .wait: break
                }
            }
        }

        private enum Step {
            case fail
            case wake(CheckedContinuation<Bool, Never>)
            case wait
        }

        /// Ends the reading and fails the connection's wait, if it waits.
        func stop() {
            let (phase, reader) = state.withLock { state in
                defer { state = State(phase: .over, reader: nil) }
                return (state.phase, state.reader)
            }
            reader?.cancel()
            switch phase {
            case .readerWaits(let reader): reader.resume(returning: false)
            case .connectionWaits(let connection): connection.resume(throwing: CancellationError())
            case .quiet, .over: break
            }
        }

        private func read(_ body: OutgoingBody) async {
            guard await isAsked() else { return }
            // Made here, once the connection stands and asks: a stream may open a file when its pass starts.
            var pieces = OutgoingPieces(body)
            repeat {
                do {
                    guard let piece = try await pieces.next() else { return hand(.success(nil), isLast: true) }
                    hand(.success(piece), isLast: false)
                } catch {
                    return hand(.failure(error), isLast: true)
                }
            } while await isAsked()
        }

        /// Returns once the connection wants a piece; `false` when it wants no more.
        private func isAsked() async -> Bool {
            await withCheckedContinuation { reader in
                let answer = state.withLock { state -> Bool? in
                    switch state.phase {
                    case .over:
                        return false
                    case .connectionWaits:
                        return true
                    case .quiet, .readerWaits:
                        state.phase = .readerWaits(reader)
                        return nil
                    }
                }
                if let answer { reader.resume(returning: answer) }
            }
        }

        private func hand(_ piece: Result<Data?, any Error>, isLast: Bool) {
            let connection = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
                guard case .connectionWaits(let connection) = state.phase else { return nil }
                state.phase = isLast ? .over : .quiet
                return connection
            }
            connection?.resume(with: piece)
        }
    }

    /// What async-http-client iterates. Letting go of it stops the reading.
    private struct HandedBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        /// How many bytes to hand out before the connection is known to have seen them.
        private static let maximumInFlight = 1024 * 1024

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
            fileprivate var inFlight = 0

            mutating func next() async throws -> ByteBuffer? {
                if inFlight >= HandedBody.maximumInFlight {
                    inFlight = 0
                    try await body.catchUp()
                }
                guard let piece = try await body.hold.handoff.next() else { return nil }
                inFlight += piece.count
                return piece.withUnsafeBytes { ByteBuffer(bytes: $0) }
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(body: self)
        }

        /// Waits until the connection's loop has taken all that was handed to it, so that it can say whether its socket
        /// is full. Pieces only join its queue, and a fast stream would fill that with the whole body before the loop
        /// gets to look at it. Which loop is the connection's is not to be known, so all of them are asked.
        private func catchUp() async throws {
            for loop in loops.makeIterator() {
                try await loop.submit {}.get()
            }
        }
    }
#endif
