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
#endif
