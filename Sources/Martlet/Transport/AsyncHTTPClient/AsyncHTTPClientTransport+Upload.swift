#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import NIOCore

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// A request body in the form that async-http-client expects.
    struct Upload {
        let body: HTTPClientRequest.Body?
        /// Reads the body, if it is streamed.
        let bridge: BodyBridge?

        /// Bodies up to this size are copied to one buffer; larger ones are sent in chunks, so that the whole body is
        /// not copied.
        private static let maximumBufferSize = 1024 * 1024

        init(_ body: OutgoingBody?, through loops: any EventLoopGroup) async throws {
            guard let body else {
                self.body = nil
                self.bridge = nil
                return
            }
            if case .bytes(let bytes) = body.content, bytes.count <= Self.maximumBufferSize {
                self.body = .bytes(bytes.withUnsafeBytes { ByteBuffer(bytes: $0) })
                self.bridge = nil
            } else if let length = body.length, length <= 0 {
                // async-http-client does not read a body of length 0, and would not notice if it had bytes.
                var pieces = OutgoingPieces(body)
                while try await pieces.next() != nil {}
                self.body = .bytes(ByteBuffer())
                self.bridge = nil
            } else {
                let bridge = BodyBridge(body)
                self.body = .stream(
                    NIORequestBody(bridge, loops: loops),
                    length: body.length.map { .known($0) } ?? .unknown)
                self.bridge = bridge
            }
        }
    }
#endif
