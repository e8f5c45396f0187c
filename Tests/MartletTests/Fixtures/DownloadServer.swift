import Foundation
import MartletTesting

@testable import Martlet

/// A server with one file that supports range requests and can break off in the middle of the file.
final class DownloadServer: Sendable {
    /// The file, and how the next responses deliver it.
    struct State {
        var content: Data
        var headers: HTTPFields = [.acceptRanges: "bytes", .eTag: "\"one\""]
        /// Whether responses have a Content-Length.
        var saysLength = true
        /// The numbers of bytes after which the next responses break off. When the list is empty, responses are
        /// complete.
        var breaks: [Int] = []
        /// Responses for the first requests, sent in place of the file.
        var first: [StubTransport.Response] = []
    }

    let state: Locked<State>
    private let pieceSize: Int
    private let beforePiece = Locked<(@Sendable (Int) async throws -> Void)?>(nil)

    init(_ content: Data, pieceSize: Int = 1000) {
        state = Locked(State(content: content))
        self.pieceSize = pieceSize
    }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Called with the position of each piece before it is sent.
    func beforePiece(_ hook: @escaping @Sendable (Int) async throws -> Void) { beforePiece.withLock { $0 = hook } }

    var transport: StubTransport { StubTransport { self.respond($0) } }

    func respond(_ request: StubTransport.Request) -> StubTransport.Response {
        state.withLock { state in
            if !state.first.isEmpty { return state.first.removeFirst() }
            var headers = state.headers
            let total = state.content.count
            var start = 0
            var status = 200
            if let range = request.headers[.range], let asked = Int(range.dropFirst("bytes=".count).dropLast()),
                state.headers[.acceptRanges] == "bytes"
            {
                let validators = [state.headers[.eTag], state.headers[.lastModified]].compactMap(\.self)
                if let condition = request.headers[.ifRange], !validators.contains(condition) {
                    start = 0
                } else if asked >= total {
                    return .status(416, headers: [.contentRange: "bytes */\(total)"])
                } else {
                    (start, status) = (asked, 206)
                    headers[.contentRange] = "bytes \(asked)-\(total - 1)/\(total)"
                }
            }
            if state.saysLength { headers[.contentLength] = "\(total - start)" }
            let end = state.breaks.isEmpty ? nil : min(total, start + state.breaks.removeFirst())
            return StubTransport.Response(
                status, headers: headers, stream: stream(state.content, from: start, breakingAt: end))
        }
    }

    private func stream(_ content: Data, from start: Int, breakingAt end: Int?) -> ByteStream {
        let (pieceSize, hook) = (pieceSize, beforePiece.withLock { $0 })
        return ByteStream {
            var position = start
            return {
                if let end, position >= end { throw TransportError.connectionLost("reset by peer") }
                guard position < content.count else { return nil }
                try await hook?(position)
                let piece = content.dropFirst(position).prefix(min(pieceSize, (end ?? .max) - position))
                position += piece.count
                return Data(piece)
            }
        }
    }
}

/// A client that retries without a delay, so that no test waits.
func persistentClient(
    _ transport: any Transport, attempts: Int = 4, _ change: (inout NetworkConfig) -> Void = { _ in }
) -> NetworkClient {
    client(transport) { config in
        config.retry = RetryPolicy(maximumAttempts: attempts, firstDelay: .zero)
        change(&config)
    }
}
