#if AsyncHTTPClient
    internal import NIOCore

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Passes a body from the task that reads its stream to the connection, on demand and a few chunks ahead.
    ///
    /// async-http-client reads a body in a task that cannot be cancelled: a stream that waits forever would block it.
    /// Therefore another task reads the stream, and ``stop()`` cancels it. That task also has the caller's priority and
    /// task-local values.
    ///
    /// Reading starts when the connection asks for the first chunk. From then on the reader stays up to
    /// ``maximumAhead`` bytes ahead; otherwise each chunk would cost two task switches.
    final class BodyBridge: Sendable {
        /// The limits for bytes (not counting the last chunk) and chunks that wait for the connection. The limit for
        /// chunks matters for streams of single bytes, whose buffers are larger than their content.
        private static let maximumAhead = 512 * 1024
        private static let maximumPieces = 16

        /// The chunks between the reader and the connection, and which of the two waits.
        private struct State {
            /// Chunks that have been read and not requested yet.
            var pieces: ArraySlice<ByteBuffer> = []
            /// The number of bytes in `pieces`.
            var ahead = 0
            /// The end of the stream, reported after the last chunk.
            var end: Result<Void, any Error>?
            var hasStarted = false
            var isOver = false
            /// The reader, if it has read enough for now.
            var waitingReader: CheckedContinuation<Bool, Never>?
            /// The connection, if it waits for a chunk.
            var waitingConnection: CheckedContinuation<ByteBuffer?, any Error>?
            var reader: Task<Void, Never>?

            var wantsMore: Bool {
                waitingConnection != nil
                    || (hasStarted && ahead < BodyBridge.maximumAhead && pieces.count < BodyBridge.maximumPieces)
            }

            /// The waiting reader, if the connection waits or half of the buffered chunks have been consumed. It is not
            /// woken for every single chunk.
            mutating func readerToWake() -> CheckedContinuation<Bool, Never>? {
                guard waitingConnection != nil || (ahead <= maximumAhead / 2 && pieces.count <= maximumPieces / 2)
                else { return nil }
                defer { waitingReader = nil }
                return waitingReader
            }
        }

        private typealias Response = Result<ByteBuffer?, any Error>
        private typealias WaitingReader = CheckedContinuation<Bool, Never>

        private let state = Locked(State())

        init(_ body: OutgoingBody) {
            let reader = Task { await self.read(body) }
            state.withLock { $0.reader = $0.isOver ? nil : reader }
        }

        /// The next chunk, for the connection.
        func next() async throws -> ByteBuffer? {
            if let response = takeNext() { return try response.get() }
            return try await withCheckedThrowingContinuation { connection in
                let (response, reader) = state.withLock { state -> (Response?, WaitingReader?) in
                    state.hasStarted = true
                    if let response = Self.respond(&state) { return (response, state.readerToWake()) }
                    state.waitingConnection = connection
                    return (nil, state.readerToWake())
                }
                reader?.resume(returning: true)
                if let response { connection.resume(with: response) }
            }
        }

        /// The next chunk or the end, if it is available at once.
        private func takeNext() -> Response? {
            let (response, reader) = state.withLock { state -> (Response?, WaitingReader?) in
                (Self.respond(&state), state.readerToWake())
            }
            reader?.resume(returning: true)
            return response
        }

        private static func respond(_ state: inout State) -> Response? {
            if state.isOver { return .failure(CancellationError()) }
            if let piece = state.pieces.popFirst() {
                state.ahead -= piece.readableBytes
                return .success(piece)
            }
            guard let end = state.end else { return nil }
            state.isOver = true
            return end.map { nil }
        }

        /// Stops the reader, and fails a connection that waits.
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
            guard await waitForDemand() else { return }
            // Created after the connection has asked for the first chunk, because a stream may open a file when its
            // pass starts.
            var pieces = OutgoingPieces(body)
            var buffers = PieceBuffers()
            repeat {
                do {
                    guard let piece = try await pieces.next() else { return end(.success(())) }
                    deliver(buffers.buffer(with: piece))
                } catch {
                    return end(.failure(error))
                }
            } while await waitForDemand()
        }

        /// Waits until more must be read; `false` if the body is no longer needed.
        private func waitForDemand() async -> Bool {
            if let response = state.withLock({ $0.isOver ? false : $0.wantsMore ? true : nil }) { return response }
            return await withCheckedContinuation { reader in
                let response = state.withLock { state -> Bool? in
                    if state.isOver { return false }
                    if state.wantsMore { return true }
                    state.waitingReader = reader
                    return nil
                }
                if let response { reader.resume(returning: response) }
            }
        }

        private func deliver(_ piece: ByteBuffer) {
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

    /// Reuses the buffers of one body: allocating memory for each chunk costs more than copying it.
    private struct PieceBuffers {
        /// Enough for the chunks that wait and those that the connection holds.
        private static let maximumCount = 8
        /// Smaller chunks get a buffer of their own size.
        private static let minimumSize = OutgoingPieces.maximumPieceSize / 4

        private var buffers: [ByteBuffer] = []
        /// The index of the buffer to use next.
        private var nextIndex = 0

        mutating func buffer(with piece: Data) -> ByteBuffer {
            guard piece.count >= Self.minimumSize else { return piece.withUnsafeBytes { ByteBuffer(bytes: $0) } }
            if buffers.count < Self.maximumCount {
                var buffer = ByteBuffer()
                buffer.reserveCapacity(OutgoingPieces.maximumPieceSize)
                buffers.append(buffer)
                nextIndex = buffers.count - 1
            }
            defer { nextIndex = (nextIndex + 1) % Self.maximumCount }
            // If the connection still retains the buffer, `clear()` replaces it with a new one.
            buffers[nextIndex].clear()
            piece.withUnsafeBytes { _ = buffers[nextIndex].writeBytes($0) }
            return buffers[nextIndex]
        }
    }
#endif
