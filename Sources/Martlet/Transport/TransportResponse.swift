internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A response as it came from the transport.
struct TransportResponse: Sendable {
    enum Body: Sendable {
        case bytes(Data)
        /// The body has more bytes than the client accepts.
        case tooLarge
        /// The body is still to be read.
        case stream(ByteStream)
    }

    let head: HTTPResponse
    let body: Body

    /// Reads the body into memory.
    /// - Throws: ``ByteStream/TooLargeError`` if the body has more bytes.
    func collect(upTo maximumCount: Int) async throws -> Data {
        switch body {
        case .bytes(let bytes): return bytes
        case .tooLarge: throw ByteStream.TooLargeError(limit: maximumCount)
        case .stream(let stream): return try await stream.collect(upTo: maximumCount)
        }
    }

    /// Records the arrival of the head, and returns the same response, which records the end of its body.
    func recorded(by recorder: TransferRecorder) -> TransportResponse {
        recorder.receiveHead()
        guard case .stream(let stream) = body else {
            recorder.finish()
            return self
        }
        return TransportResponse(head: head, body: .stream(recorder.watching(stream)))
    }
}
