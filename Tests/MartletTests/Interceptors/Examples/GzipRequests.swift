import Foundation
import Martlet

/// Compresses bodies in memory that become smaller as a result.
struct GzipRequests: RequestInterceptor {
    var minimumLength = 1024
    /// Compresses bytes in gzip format.
    let gzip: @Sendable (Data) throws -> Data

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        guard request.headerFields[.contentEncoding] == nil,
            let bytes = context.body?.bytes, bytes.count >= minimumLength
        else { return }
        let compressed = try gzip(bytes)
        guard compressed.count < bytes.count else { return }
        context.body = .init(compressed)
        request.headerFields[.contentEncoding] = "gzip"
    }
}
