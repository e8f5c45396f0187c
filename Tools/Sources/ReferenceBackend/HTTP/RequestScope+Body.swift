import HTTPTypes
import HummingbirdCore
import NIOCore

extension RequestScope {
    static let smallBodyLimit = 1 << 20

    /// The whole body, refused beyond `limit`.
    func collectBody(upTo limit: Int = smallBodyLimit) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw APIError.tooLarge(limit: limit)
        }
    }

    /// The body as JSON; an empty one counts as an empty object.
    func json() async throws -> JSONValue {
        let body = try await collectBody()
        if body.readableBytes == 0 { return .object([:]) }
        do {
            return try JSONValue(parsing: body.readableBytesView)
        } catch {
            throw APIError.malformed("The body is not JSON.")
        }
    }

    /// The body's fields, from JSON or a form.
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

    /// Reads what is left of the body and throws it away.
    func drainBody() async throws {
        for try await _ in request.body {}
    }

    /// Refuses at once where the client announces more than `limit`.
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
