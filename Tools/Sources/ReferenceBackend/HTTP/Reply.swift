import HTTPTypes
import HummingbirdCore
import NIOCore

/// A response without the fields that are added to every response.
struct Reply {
    var status: Int
    var headers = HTTPFields()
    var body = ResponseBody()

    static func json(_ value: JSONValue, status: Int = 200, contentType: String = "application/json") -> Reply {
        .text(value.jsonText, status: status, contentType: contentType)
    }

    static func text(_ text: String, status: Int = 200, contentType: String) -> Reply {
        .bytes(ByteBuffer(string: text), status: status, contentType: contentType)
    }

    static func bytes(_ bytes: ByteBuffer, status: Int = 200, contentType: String) -> Reply {
        Reply(status: status, headers: [.contentType: contentType], body: ResponseBody(byteBuffer: bytes))
    }

    static func empty(_ status: Int = 204) -> Reply {
        Reply(status: status)
    }

    func with(_ name: HTTPField.Name, _ value: String) -> Reply {
        var reply = self
        reply.headers.append(HTTPField(name: name, value: value))
        return reply
    }

    func with(_ fields: HTTPFields) -> Reply {
        var reply = self
        reply.headers.append(contentsOf: fields)
        return reply
    }

    /// Whether a response with this status may have content (RFC 9110 section 6.4.1).
    var mayHaveContent: Bool {
        status >= 200 && status != 204 && status != 304
    }
}

extension HTTPField.Name {
    static let refreshToken = known("refresh-token")
    static let requestID = known("X-Request-Id")
    static let pragma = known("Pragma")
    static let lastEventID = known("Last-Event-ID")
    static let reprDigest = known("Repr-Digest")
    static let wantReprDigest = known("Want-Repr-Digest")

    private static func known(_ text: StaticString) -> HTTPField.Name {
        // Cannot fail: the names above are valid tokens, and this function is private.
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is not a valid field name.") }
        return name
    }
}
