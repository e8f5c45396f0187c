#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import HTTPTypes
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOHTTPCompression

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension HTTPClientRequest {
        init(_ request: HTTPRequest, body: Body?, acceptsCompression: Bool) throws(TransportError) {
            self.init(url: try request.target())
            self.method = HTTPMethod(rawValue: request.method.rawValue)
            self.headers = HTTPHeaders(request.headerFields, acceptsCompression: acceptsCompression)
            self.body = body
        }
    }

    extension HTTPHeaders {
        init(_ fields: HTTPFields, acceptsCompression: Bool) {
            self.init()
            reserveCapacity(fields.count + 3)
            var hasCookie = false
            for field in fields {
                guard field.name != .cookie else {
                    hasCookie = true
                    continue
                }
                add(name: field.name.rawName, value: field.value)
            }
            // HTTPFields splits a cookie field into its pairs, but HTTP/1.1 allows only one such field.
            if hasCookie, let cookie = fields[.cookie] {
                add(name: "Cookie", value: cookie)
            }
            if acceptsCompression, !fields.contains(.acceptEncoding) {
                add(name: "Accept-Encoding", value: "gzip, deflate")
            }
        }
    }

    extension AsyncHTTPClientTransport {
        /// Converts a response of async-http-client to the types of ``Transport``.
        static func convert(
            _ response: HTTPClientResponse, to method: HTTPRequest.Method, upload: BodyBridge?,
            connections: AsyncHTTPClientTransport.Connections
        ) throws(TransportError) -> (head: HTTPResponse, body: ByteStream) {
            let head = try HTTPResponse(
                response.status, response.headers, to: method, decodesContent: connections.decodesContent)
            let incoming = IncomingBody(
                response.body, response.headers, isBodyless: HTTPResponse.isBodyless(head.status.code, to: method),
                isUnsuccessful: head.status.code >= 300,
                upload: upload, connections: connections)
            return (head, .singlePass { incoming.pass() })
        }
    }

    extension HTTPResponse {
        init(
            _ status: HTTPResponseStatus, _ headers: HTTPHeaders, to method: HTTPRequest.Method, decodesContent: Bool
        ) throws(TransportError) {
            guard (100...999).contains(status.code) else { throw .invalidResponse("its status is \(status.code)") }
            self.init(status: HTTPResponse.Status(code: Int(status.code), reasonPhrase: status.reasonPhrase))
            headerFields = HTTPFields(
                headers, isDecoded: decodesContent && !Self.isBodyless(Int(status.code), to: method))
        }

        /// Whether a response has no body. It may still have a `Content-Encoding`.
        static func isBodyless(_ status: Int, to method: HTTPRequest.Method) -> Bool {
            method == .head || status == 204 || status == 304
        }
    }

    extension HTTPFields {
        /// All fields in order, including repeated ones, without those that do not apply to a decoded body.
        fileprivate init(_ headers: HTTPHeaders, isDecoded: Bool) {
            self.init()
            self.reserveCapacity(headers.count)
            for (name, value) in headers {
                // NIO's parsers accept only valid names, so no field is lost.
                guard let name = HTTPField.Name(name) else { continue }
                self.append(HTTPField(name: name, value: value))
            }
            guard isDecoded, contains(.contentEncoding) else { return }
            var left = ContentCodings(self)
            if headers.areDecompressed, let outermost = left.names.last,
                ["gzip", "x-gzip", "deflate"].contains(outermost)
            {
                left.names.removeLast()
            }
            announce(left)
        }
    }

    extension HTTPHeaders {
        /// Whether the decompressor of async-http-client (NIOHTTPCompression) decodes the body. It looks only at the
        /// first member of the list, the innermost coding, and decodes only the outermost.
        fileprivate var areDecompressed: Bool {
            ["gzip", "deflate"].contains(self[canonicalForm: "Content-Encoding"].first?.lowercased())
        }

        /// Whether the body may have been empty, if not a byte of it could be decompressed: the decompressor reports an
        /// empty body as truncated. Without `Content-Length`, a body of a few bytes that were cut off looks the same.
        func allowEmptyBody(after error: any Error) -> Bool {
            guard error as? NIOHTTPDecompression.ExtraDecompressionError == .truncatedData else { return false }
            return self["Content-Length"].allSatisfy { Int($0) == 0 }
        }

        /// The codings of a body that the decompressor fails to decode because there are several; `nil` otherwise.
        var stackedCodings: ContentCodings? {
            guard areDecompressed else { return nil }
            let codings = ContentCodings(HTTPFields(self, isDecoded: false))
            return codings.names.count > 1 ? codings : nil
        }
    }

    /// The body of a response while it is received. Its release ends the exchange.
    private final class IncomingBody: Sendable {
        private let body: HTTPClientResponse.Body
        private let headers: HTTPHeaders
        private let isBodyless: Bool
        /// Whether the status is 300 or higher.
        private let isUnsuccessful: Bool
        private let upload: BodyBridge?
        /// Retained, so that the connections live as long as the bodies that use them.
        private let connections: AsyncHTTPClientTransport.Connections
        /// Whether the body has been read; `nil` if there is no upload to stop.
        private let isComplete: Locked<Bool>?

        init(
            _ body: HTTPClientResponse.Body, _ headers: HTTPHeaders, isBodyless: Bool, isUnsuccessful: Bool,
            upload: BodyBridge?, connections: AsyncHTTPClientTransport.Connections
        ) {
            self.body = body
            self.headers = headers
            self.isBodyless = isBodyless
            self.isUnsuccessful = isUnsuccessful
            self.upload = upload
            self.isComplete = upload.map { _ in Locked(false) }
            self.connections = connections
        }

        deinit {
            // A server may respond completely while it still reads the request, and the upload continues. After an
            // incomplete response or a status of 300 or higher, async-http-client does not send the rest.
            if isUnsuccessful || isComplete?.withLock({ $0 }) == false { upload?.stop() }
        }

        func pass() -> ByteStream.NextChunk {
            var iterator = body.makeAsyncIterator()
            var isEmpty = true
            return {
                do {
                    while let buffer = try await iterator.next() {
                        guard buffer.readableBytes == 0 else {
                            isEmpty = false
                            return Data(received: buffer)
                        }
                    }
                } catch {
                    // The decompressor reports an empty body as truncated.
                    guard self.isBodyless || isEmpty && self.headers.allowEmptyBody(after: error),
                        !(error is CancellationError)
                    else {
                        throw TransportError.reason(for: error, readingBodyOf: self.headers)
                    }
                }
                self.isComplete?.withLock { $0 = true }
                return nil
            }
        }
    }

    extension Data {
        /// Chunks of at least this size are not copied if they fill most of their buffer.
        private static let copiedSize = 16 * 1024

        /// The bytes of a received chunk.
        ///
        /// Small chunks are copied, because each would retain a large buffer.
        init(received buffer: ByteBuffer) {
            let count = buffer.readableBytes
            guard count >= Self.copiedSize, count >= buffer.storageCapacity / 2 else {
                self = buffer.withUnsafeReadableBytes { Data($0) }
                return
            }
            self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
                guard let start = bytes.baseAddress else { return Data() }
                // NIO does not write to a buffer that is retained, so only the reader of this chunk accesses these
                // bytes.
                let held = storage.retain()
                return Data(
                    bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                    deallocator: .custom { _, _ in held.release() })
            }
        }
    }
#endif
