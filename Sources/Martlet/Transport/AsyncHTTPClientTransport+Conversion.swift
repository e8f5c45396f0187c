#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import HTTPTypes
    internal import NIOCore
    internal import NIOHTTP1

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension HTTPClientRequest {
        init(_ request: HTTPRequest, body: Body?, acceptsCompression: Bool) throws(TransportError) {
            self.init(url: try request.target())
            self.method = HTTPMethod(rawValue: request.method.rawValue)
            self.headers = Self.headers(request.headerFields, acceptsCompression: acceptsCompression)
            self.body = body
        }

        private static func headers(_ fields: HTTPFields, acceptsCompression: Bool) -> HTTPHeaders {
            var headers = HTTPHeaders()
            headers.reserveCapacity(fields.count + 3)
            var hasCookie = false
            for field in fields {
                guard field.name != .cookie else {
                    hasCookie = true
                    continue
                }
                headers.add(name: field.name.rawName, value: field.value)
            }
            // HTTPFields splits a cookie field into its pairs, and HTTP/1.1 allows but one such field.
            if hasCookie, let cookie = fields[.cookie] {
                headers.add(name: "Cookie", value: cookie)
            }
            if acceptsCompression, !fields.contains(.acceptEncoding) {
                headers.add(name: "Accept-Encoding", value: "gzip, deflate")
            }
            return headers
        }
    }

    extension TransportResponse {
        init(
            _ response: HTTPClientResponse, to method: HTTPRequest.Method, upload: BodyHandoff?,
            connections: AsyncHTTPClientTransport.Connections
        ) throws(TransportError) {
            guard (100...999).contains(response.status.code) else {
                throw .invalidResponse("its status is \(response.status.code)")
            }
            let status = HTTPResponse.Status(
                code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase)
            // An answer that has no body by its nature may say how the body would have been encoded.
            let isBodyless = method == .head || status.code == 204 || status.code == 304
            self.head = HTTPResponse(
                status: status,
                headerFields: HTTPFields(
                    response.headers, isDecoded: connections.decodesContent && !isBodyless))
            let incoming = IncomingBody(
                response.body, isBodyless: isBodyless, isRefusal: status.code >= 300, upload: upload,
                connections: connections)
            self.body = .onePass { incoming.pass() }
        }
    }

    extension HTTPFields {
        /// All fields in their order, repeats kept, but for those that are not so of a decoded body.
        fileprivate init(_ headers: HTTPHeaders, isDecoded: Bool) {
            let encoding = isDecoded ? headers.first(name: "Content-Encoding")?.lowercased() : nil
            // The names that async-http-client's decompressor goes by.
            let wasEncoded = encoding == "gzip" || encoding == "deflate"
            self.init()
            self.reserveCapacity(headers.count)
            for (name, value) in headers {
                // NIO's parsers let only tokens through, so that nothing is lost here.
                guard let name = HTTPField.Name(name) else { continue }
                self.append(HTTPField(name: name, value: value))
            }
            if wasEncoded { dropFieldsOfEncodedBody() }
        }
    }

    /// The body of an answer on its way in. Letting go of it ends the exchange.
    private final class IncomingBody: Sendable {
        private let body: HTTPClientResponse.Body
        private let isBodyless: Bool
        private let isRefusal: Bool
        private let upload: BodyHandoff?
        /// Held so that the connections outlive the bodies that come through them.
        private let connections: AsyncHTTPClientTransport.Connections
        private let isComplete = Locked(false)

        init(
            _ body: HTTPClientResponse.Body, isBodyless: Bool, isRefusal: Bool, upload: BodyHandoff?,
            connections: AsyncHTTPClientTransport.Connections
        ) {
            self.body = body
            self.isBodyless = isBodyless
            self.isRefusal = isRefusal
            self.upload = upload
            self.connections = connections
        }

        deinit {
            // A server may answer in full while it still reads the request. But after an answer that was cut short, or
            // one that wants no more of it, async-http-client sends nothing more.
            if isRefusal || !isComplete.withLock({ $0 }) { upload?.stop() }
        }

        func pass() -> ByteStream.NextChunk {
            var iterator = body.makeAsyncIterator()
            return {
                do {
                    while let buffer = try await iterator.next() {
                        guard buffer.readableBytes == 0 else {
                            return Data(received: buffer)
                        }
                    }
                } catch {
                    // The decompressor takes the empty body of a HEAD, a 204 or a 304 for a truncated one.
                    guard self.isBodyless, !(error is CancellationError) else {
                        throw TransportError.reason(for: error)
                    }
                }
                self.isComplete.withLock { $0 = true }
                return nil
            }
        }
    }

    extension Data {
        /// As many bytes as this are not copied if they take up most of the memory that they came in.
        private static let copiedSize = 16 * 1024

        /// The bytes of a piece as it was read from the connection.
        ///
        /// Small ones are copied, or a few of them, kept by somebody, would hold much memory.
        fileprivate init(received buffer: ByteBuffer) {
            let count = buffer.readableBytes
            guard count >= Self.copiedSize, count >= buffer.storageCapacity / 2 else {
                self = buffer.withUnsafeReadableBytes { Data($0) }
                return
            }
            self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
                guard let start = bytes.baseAddress else { return Data() }
                // Nobody but the reader of this piece sees these bytes from here on: NIO makes no further use of memory that
                // somebody holds.
                let held = storage.retain()
                return Data(
                    bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                    deallocator: .custom { _, _ in held.release() })
            }
        }
    }
#endif
