import HTTPTypes
import HummingbirdCore
import NIOCore

extension RequestScope {
    /// The boundary of a `multipart/form-data` request; `nil` for other content types.
    var multipartBoundary: String? {
        guard let contentType = headers[.contentType] else { return nil }
        let parameters = HeaderParameters(contentType)
        guard parameters.value == "multipart/form-data", let boundary = parameters["boundary"],
            (1...70).contains(boundary.utf8.count)
        else { return nil }
        return boundary
    }

    /// Parses the body as it arrives. Throws if it has more than `limit` bytes.
    func readMultipart(
        boundary: String, upTo limit: Int, _ handle: (MultipartParser.Event) throws -> Void
    ) async throws {
        var parser = MultipartParser(boundary: boundary)
        var byteCount = 0
        do {
            for try await piece in request.body {
                byteCount += piece.readableBytes
                if byteCount > limit { throw APIError.tooLarge(limit: limit) }
                for event in try parser.feed(piece) { try handle(event) }
            }
            try parser.finish()
        } catch let error as MultipartParser.ParsingError {
            throw APIError.malformed("The multipart body is malformed: \(error).")
        }
    }
}
