import HTTPTypes
import HummingbirdCore
import NIOCore

/// An answer before it gets the fields that every answer has.
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

    /// Whether the status lets an answer have content (RFC 9110 section 6.4.1).
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

    /// A name that this source spells out.
    private static func known(_ text: StaticString) -> HTTPField.Name {
        // It cannot fail: the names above are tokens, and no other text gets here.
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no token.") }
        return name
    }
}
