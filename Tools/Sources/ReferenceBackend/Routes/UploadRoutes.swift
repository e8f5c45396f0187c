import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

extension BackendCore {
    func addUploadRoutes(to table: inout RouteTable) {
        table.add("POST", "/uploads", receiveUpload)
    }

    /// Measures and hashes the body as it arrives, without keeping it.
    private func receiveUpload(_ scope: RequestScope) async throws -> Reply {
        if !state.settings.authenticatesAfterBody { _ = try await authenticate(scope) }
        try scope.refuseAnnouncedBody(over: configuration.maxUploadBytes)
        var parts: [UploadedPart] = []
        if let boundary = scope.multipartBoundary {
            try await scope.readMultipart(boundary: boundary, upTo: configuration.maxUploadBytes) { event in
                switch event {
                case .partBegan(let headers): parts.append(UploadedPart(headers))
                case .content(let bytes): parts[parts.count - 1].take(bytes)
                case .partEnded: break
                }
            }
        } else {
            var part = UploadedPart(contentType: scope.headers[.contentType])
            for try await piece in scope.request.body {
                part.take(piece)
                if part.size > configuration.maxUploadBytes {
                    throw APIError.tooLarge(limit: configuration.maxUploadBytes)
                }
            }
            parts = [part]
        }
        if state.settings.authenticatesAfterBody { _ = try await authenticate(scope) }
        return rules.success(.array(parts.map(\.json)), status: 200, scope: scope)
    }
}

/// The metadata, size and hash of one uploaded part.
private struct UploadedPart {
    var name: String?
    var filename: String?
    var contentType: String?
    private(set) var size = 0
    private var hash = SHA256()

    init(_ headers: MultipartHeaders) {
        name = headers.name
        filename = headers.filename
        contentType = headers.contentType
    }

    init(contentType: String?) {
        self.contentType = contentType
    }

    mutating func take(_ bytes: ByteBuffer) {
        size += bytes.readableBytes
        bytes.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    }

    var json: JSONValue {
        [
            "name": JSONValue(name), "filename": JSONValue(filename), "contentType": JSONValue(contentType),
            "size": .integer(size), "sha256": .string(hash.finalize().hexadecimal),
        ]
    }
}
