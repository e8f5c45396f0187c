import Foundation
import Martlet

/// Signs method, target, time and body of each attempt.
struct HMACSignature: RequestInterceptor {
    /// The body is read while it is sent, so it cannot be signed beforehand.
    struct CannotSignStream: Error {}
    /// Without a valid name for the field, nothing is sent.
    struct InvalidFieldName: Error {}

    let keyID: String
    /// Returns the HMAC of a message, in hexadecimal digits.
    let code: @Sendable (Data) -> String

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        guard let field = HTTPField.Name("X-Signature") else { throw InvalidFieldName() }
        let body = context.body ?? .init(Data())
        guard let bytes = body.bytes else { throw CannotSignStream() }
        let time = Int(context.wallClock.timeIntervalSince1970)
        let head = "\(request.method)\n\(request.path ?? "/")\n\(time)\n"
        let signature = code(Data(head.utf8) + bytes)
        request.headerFields.setSensitive("key=\(keyID),time=\(time),code=\(signature)", for: field)
    }
}
