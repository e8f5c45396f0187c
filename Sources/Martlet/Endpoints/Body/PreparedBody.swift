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
    private let source: @Sendable () throws -> OutgoingBody
    /// Whether opening the body reads files.
    let inspectsFiles: Bool

    /// - Parameter length: The result of ``RequestBody/measured()``.
    init(_ body: RequestBody, length: Int64?, encoder: JSONEncoder) throws {
        inspectsFiles = body.inspectsFiles
        contentType = body.contentType
        isReplayable = body.isReplayable
        switch body.source {
        case .bytes(let data):
            self.length = Int64(data.count)
            self.bytes = data
            self.source = { OutgoingBody(data) }
        case .encoded(let encode):
            let data = try encode(encoder)
            self.length = Int64(data.count)
            self.bytes = data
            self.source = { OutgoingBody(data) }
        case .stream(let open):
            self.length = length
            self.bytes = nil
            self.source = open
        }
    }

    /// A body of bytes in memory.
    init(_ bytes: Data, contentType: String? = nil) {
        self.inspectsFiles = false
        self.contentType = contentType
        self.isReplayable = true
        self.length = Int64(bytes.count)
        self.bytes = bytes
        self.source = { OutgoingBody(bytes) }
    }

    /// Returns the body of one attempt.
    func open() async throws -> OutgoingBody {
        try await inspectsFiles ? BlockingQueue.run(source) : source()
    }
}

extension RequestBody {
    /// The number of bytes if the body were sent now, if it is known before the body is encoded.
    func measured() async -> Int64? {
        await inspectsFiles ? BlockingQueue.run(measure) : measure()
    }

    /// The number of bytes to send; `nil` if it is unknown. For mock clients.
    package var lengthWhenSent: Int64? {
        get async { await (try? PreparedBody(self, length: measured(), encoder: .martlet))?.length }
    }
}
