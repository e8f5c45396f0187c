#if AsyncHTTPClient
    internal import NIOCore

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Carries a body from the task that reads its stream to the connection, on demand and a few pieces ahead.
    ///
    /// async-http-client pulls a body from a task of its own that nobody can cancel: a stream that waits for something
    /// that never comes would hold it for ever. So the stream is read by a task of ours, which ``stop()`` cancels. That
    /// task also has the caller's priority and task-local values.
    ///
    /// Nothing is read before the connection asks for the first time. From then on the reader is up to
    /// ``maximumAhead`` bytes ahead, or every piece would cost the time of waking two tasks one after the other.
    final class BodyHandoff: Sendable {
        /// How many bytes may wait for the connection, but for the last piece of them, and how many pieces: of a stream
        /// of single bytes the pieces would take more memory than the bytes.
        private static let maximumAhead = 512 * 1024
        private static let maximumPieces = 16

        private struct State {
            /// Read, and not asked for yet.
            var pieces: ArraySlice<ByteBuffer> = []
            var ahead = 0
            /// How the stream ended, which is told after the last of the pieces.
            var end: Result<Void, any Error>?
            var isAskedFor = false
            var isOver = false
            /// The reader, where it has read enough for now.
            var waitingReader: CheckedContinuation<Bool, Never>?
            /// The connection, where it waits for a piece.
            var waitingConnection: CheckedContinuation<ByteBuffer?, any Error>?
            var reader: Task<Void, Never>?

            var wantsMore: Bool {
                waitingConnection != nil
                    || (isAskedFor && ahead < BodyHandoff.maximumAhead && pieces.count < BodyHandoff.maximumPieces)
            }

            /// The reader, if it waits and has been waiting long enough: half of what may be ahead is used up, so that it
            /// is not woken for every single piece.
            mutating func readerToWake() -> CheckedContinuation<Bool, Never>? {
                guard waitingConnection != nil || (ahead <= maximumAhead / 2 && pieces.count <= maximumPieces / 2)
                else { return nil }
                defer { waitingReader = nil }
                return waitingReader
            }
        }

        private typealias Answer = Result<ByteBuffer?, any Error>
        private typealias WaitingReader = CheckedContinuation<Bool, Never>

        private let state = Locked(State())

        init(_ body: OutgoingBody) {
            let reader = Task { await self.read(body) }
            state.withLock { $0.reader = $0.isOver ? nil : reader }
        }

        /// The next piece, for the connection.
        func next() async throws -> ByteBuffer? {
            if let answer = takeNext() { return try answer.get() }
            return try await withCheckedThrowingContinuation { connection in
                let (answer, reader) = state.withLock { state -> (Answer?, WaitingReader?) in
                    state.isAskedFor = true
                    if let answer = Self.answer(&state) { return (answer, state.readerToWake()) }
                    state.waitingConnection = connection
                    return (nil, state.readerToWake())
                }
                reader?.resume(returning: true)
                if let answer { connection.resume(with: answer) }
            }
        }

        /// What is there without waiting for it.
        private func takeNext() -> Answer? {
            let (answer, reader) = state.withLock { state -> (Answer?, WaitingReader?) in
                (Self.answer(&state), state.readerToWake())
            }
            reader?.resume(returning: true)
            return answer
        }

        private static func answer(_ state: inout State) -> Answer? {
            if state.isOver { return .failure(CancellationError()) }
            if let piece = state.pieces.popFirst() {
                state.ahead -= piece.readableBytes
                return .success(piece)
            }
            guard let end = state.end else { return nil }
            state.isOver = true
            return end.map { nil }
        }

        /// Ends the reading and fails the connection's wait, if it waits.
        func stop() {
            let before = state.withLock { state in
                defer {
                    state = State()
                    state.isOver = true
                }
                return state
            }
            before.reader?.cancel()
            before.waitingReader?.resume(returning: false)
            before.waitingConnection?.resume(throwing: CancellationError())
        }

        private func read(_ body: OutgoingBody) async {
            guard await isAsked() else { return }
            // Made here, once the connection stands and asks: a stream may open a file when its pass starts.
            var pieces = OutgoingPieces(body)
            var buffers = PieceBuffers()
            repeat {
                do {
                    guard let piece = try await pieces.next() else { return end(.success(())) }
                    hand(buffers.buffer(with: piece))
                } catch {
                    return end(.failure(error))
                }
            } while await isAsked()
        }

        /// Returns once more is to be read; `false` when nothing is wanted any more.
        private func isAsked() async -> Bool {
            if let answer = state.withLock({ $0.isOver ? false : $0.wantsMore ? true : nil }) { return answer }
            return await withCheckedContinuation { reader in
                let answer = state.withLock { state -> Bool? in
                    if state.isOver { return false }
                    if state.wantsMore { return true }
                    state.waitingReader = reader
                    return nil
                }
                if let answer { reader.resume(returning: answer) }
            }
        }

        private func hand(_ piece: ByteBuffer) {
            let connection = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>? in
                guard !state.isOver else { return nil }
                if let connection = state.waitingConnection {
                    state.waitingConnection = nil
                    return connection
                }
                state.pieces.append(piece)
                state.ahead += piece.readableBytes
                return nil
            }
            connection?.resume(returning: piece)
        }

        private func end(_ end: Result<Void, any Error>) {
            let connection = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>? in
                guard !state.isOver else { return nil }
                state.reader = nil
                guard let connection = state.waitingConnection else {
                    state.end = end
                    return nil
                }
                state.waitingConnection = nil
                state.isOver = true
                return connection
            }
            connection?.resume(with: end.map { nil })
        }
    }

    /// Buffers of the pieces of one body, used again and again: fresh memory for each piece costs more than copying it.
    private struct PieceBuffers {
        /// As many as are on their way at once as a rule: those ahead, and those in the connection's hands.
        private static let maximumCount = 8
        /// Smaller pieces get a buffer of their own size.
        private static let minimumSize = OutgoingPieces.maximumPieceSize / 4

        private var buffers: [ByteBuffer] = []
        private var turn = 0

        mutating func buffer(with piece: Data) -> ByteBuffer {
            guard piece.count >= Self.minimumSize else { return piece.withUnsafeBytes { ByteBuffer(bytes: $0) } }
            if buffers.count < Self.maximumCount {
                var buffer = ByteBuffer()
                buffer.reserveCapacity(OutgoingPieces.maximumPieceSize)
                buffers.append(buffer)
                turn = buffers.count - 1
            }
            defer { turn = (turn + 1) % Self.maximumCount }
            // One that the connection still holds is left to it, and there is a new one in its place.
            buffers[turn].clear()
            piece.withUnsafeBytes { _ = buffers[turn].writeBytes($0) }
            return buffers[turn]
        }
    }
#endif
