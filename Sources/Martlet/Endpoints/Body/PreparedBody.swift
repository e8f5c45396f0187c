internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The body of a request after encoding. A call encodes its body once, and each attempt opens the encoded bytes or the
/// stream again.
struct PreparedBody: Sendable {
    let contentType: String?
    let isReplayable: Bool
    /// The number of bytes; `nil` if it is unknown.
    let length: Int64?
    /// The bytes, if they are in memory.
    let bytes: Data?
    /// Returns the body of one attempt.
    let open: @Sendable () throws -> OutgoingBody

    init(_ body: RequestBody, encoder: JSONEncoder) throws {
        contentType = body.contentType
        isReplayable = body.isReplayable
        switch body.source {
        case .bytes(let data):
            self.length = Int64(data.count)
            self.bytes = data
            self.open = { OutgoingBody(data) }
        case .encoded(let encode):
            let data = try encode(encoder)
            self.length = Int64(data.count)
            self.bytes = data
            self.open = { OutgoingBody(data) }
        case .stream(let open):
            self.length = body.measure()
            self.bytes = nil
            self.open = open
        }
    }
}

extension RequestBody {
    /// The number of bytes to send; `nil` if it is unknown. For mock clients.
    package var lengthWhenSent: Int64? {
        (try? PreparedBody(self, encoder: .martlet))?.length
    }
}
