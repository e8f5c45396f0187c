import HTTPTypes
import HummingbirdCore
import NIOCore

extension RequestScope {
    static let smallBodyLimit = 1 << 20

    /// Reads the whole body. Throws if it has more than `limit` bytes.
    func collectBody(upTo limit: Int = smallBodyLimit) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw APIError.tooLarge(limit: limit)
        }
    }

    /// Parses the body as JSON. An empty body is an empty object.
    func json() async throws -> JSONValue {
        let body = try await collectBody()
        if body.readableBytes == 0 { return .object([:]) }
        do {
            return try JSONValue(parsing: body.readableBytesView)
        } catch {
            throw APIError.malformed("The body is not valid JSON.")
        }
    }

    /// Parses the body as a JSON object or a form.
    func fields() async throws -> FormFields {
        let body = try await collectBody()
        if mediaType == "application/json" {
            guard let members = (try? JSONValue(parsing: body.readableBytesView))?.objectValue else {
                throw APIError.malformed("The body is not a JSON object.")
            }
            return FormFields(members: members)
        }
        return FormFields(String(buffer: body))
    }

    /// Reads and discards the rest of the body.
    func drainBody() async throws {
        for try await _ in request.body {}
    }

    /// Throws if the `Content-Length` exceeds `limit`.
    func refuseAnnouncedBody(over limit: Int) throws {
        if let announced = headers[.contentLength].flatMap({ Int($0) }), announced > limit {
            throw APIError.tooLarge(limit: limit)
        }
    }
}

extension FormFields {
    init(members: [String: JSONValue]) {
        self.init("")
        for (name, value) in members {
            if let text = value.stringValue { append(name: name, value: text) }
        }
    }
}
