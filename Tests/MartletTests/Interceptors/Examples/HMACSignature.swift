import Foundation
import Martlet

/// Signs method, target, time and body of each attempt.
struct HMACSignature: RequestInterceptor {
    /// The body is read while it is sent, so it cannot be signed beforehand.
    struct CannotSignStream: Error {}

    let keyID: String
    /// Returns the HMAC of a message, in hexadecimal digits.
    let code: @Sendable (Data) -> String

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        let body = context.body ?? .init(Data())
        guard let bytes = body.bytes else { throw CannotSignStream() }
        let time = Int(context.wallClock.timeIntervalSince1970)
        let head = "\(request.method)\n\(request.path ?? "/")\n\(time)\n"
        let signature = code(Data(head.utf8) + bytes)
        if let name = HTTPField.Name("X-Signature") {
            request.headerFields.setSensitive("key=\(keyID),time=\(time),code=\(signature)", for: name)
        }
    }
}
