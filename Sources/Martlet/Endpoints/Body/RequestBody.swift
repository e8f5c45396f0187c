#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a request: bytes, text, JSON, a form, a file or a stream.
///
/// ```swift
/// RequestBody.json(draft)                                       // encoded with the client's encoder
/// RequestBody.form(["grant_type": "password", "username": name])
/// RequestBody.file(at: "/tmp/report.pdf", contentType: "application/pdf")
/// RequestBody.multipart(form)
/// RequestBody.stream(length: 1_000, contentType: nil) { ByteStream(chunks) }
/// ```
public struct RequestBody: Sendable {
    /// The media type, sent as `Content-Type` unless the endpoint sets that field itself.
    package let contentType: String?
    /// Whether the body can be sent again after a 401, a redirect or a failed attempt.
    package let isReplayable: Bool
    let source: Source
    /// The number of bytes if the body were sent now, if known.
    let measure: @Sendable () -> Int64?
    /// Whether measuring the body and opening its stream inspect files.
    let inspectsFiles: Bool

    /// The source of the body's bytes.
    enum Source: Sendable {
        case bytes(Data)
        /// A value, encoded by the client's encoder.
        case encoded(@Sendable (JSONEncoder) throws -> Data)
        /// Called once per attempt. It returns length and bytes together, so that they match.
        case stream(@Sendable () throws -> OutgoingBody)
    }

    init(
        contentType: String?, isReplayable: Bool = true, source: Source,
        measure: @escaping @Sendable () -> Int64? = { nil }, inspectsFiles: Bool = false
    ) {
        self.contentType = contentType
        self.isReplayable = isReplayable
        self.source = source
        self.measure = measure
        self.inspectsFiles = inspectsFiles
    }

    /// A body from bytes in memory.
    public static func bytes(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, source: .bytes(data))
    }

    /// A body from text, in UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        .bytes(Data(text.utf8), contentType: contentType)
    }

    /// A body from a value, encoded as JSON by the client's encoder.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(contentType: "application/json", source: .encoded { try $0.encode(value) })
    }

    /// A form (`application/x-www-form-urlencoded`, WHATWG URL standard).
    public static func form(_ fields: Query) -> RequestBody {
        .bytes(Data(FormEncoding.encode(fields).utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// A body from a file, streamed from disk for each attempt.
    ///
    /// If the file is missing, the call fails before anything is sent. If its size changes during an attempt, the
    /// attempt fails. Both errors are ``NetworkError/unreadableFile(_:path:reason:)``, and their text names the file.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - contentType: The media type; guessed from the file name if `nil`.
    public static func file(at path: String, contentType: String? = nil) -> RequestBody {
        RequestBody(
            contentType: contentType ?? MediaType.forFile(named: path),
            source: .stream {
                let size = try FileChunks.size(ofFileAt: path)
                return OutgoingBody(
                    ByteStream(FileChunks(path: path, size: size)), length: size, isRepeatable: true)
            }, measure: { try? FileChunks.size(ofFileAt: path) }, inspectsFiles: true)
    }

    /// A body from a file, streamed from disk for each attempt. See ``file(at:contentType:)``.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
        .file(at: url.path, contentType: contentType)
    }

    /// A body from a stream that can be created again for each attempt.
    /// - Parameters:
    ///   - length: The exact number of bytes, or `nil` to send the body in chunks. If the stream yields more or fewer
    ///     bytes, the call fails with ``NetworkError/invalidRequest(_:reason:)``.
    ///   - contentType: The media type.
    ///   - open: Creates the stream; called once per attempt.
    public static func stream(
        length: Int64?, contentType: String?, open: @escaping @Sendable () throws -> ByteStream
    ) -> RequestBody {
        RequestBody(
            contentType: contentType,
            source: .stream { OutgoingBody(try open().exactly(length, of: "The body"), length: length) },
            measure: { length })
    }

    /// A single-use body: its sequence can be read only once. If the call must be sent again, it fails with
    /// ``NetworkError/bodyNotReplayable(_:_:)``. Without a network it fails at once, whatever
    /// ``NetworkConfig/connectivityTimeout`` says.
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - length: The exact number of bytes, if known.
    ///   - contentType: The media type.
    public static func singleUse<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody where Chunks.Element == Data {
        let open = ByteStream.opensOnce(chunks)
        return RequestBody(
            contentType: contentType, isReplayable: false,
            source: .stream { OutgoingBody(try open().exactly(length, of: "The body"), length: length) },
            measure: { length })
    }
}
