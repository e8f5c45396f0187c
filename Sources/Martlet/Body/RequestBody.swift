#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a request carries, and whether it can be sent again.
///
/// ```swift
/// RequestBody.json(draft)                                       // encoded with the client's encoder
/// RequestBody.form(["grant_type": "password", "username": name])
/// RequestBody.file(at: "/tmp/report.pdf", contentType: "application/pdf")
/// RequestBody.multipart(form)
/// RequestBody.stream(length: 1_000, contentType: nil) { ByteStream(chunks) }
/// ```
public struct RequestBody: Sendable {
    /// The media type, which goes out as `Content-Type` unless the endpoint sets one itself.
    public let contentType: String?
    /// Whether the body can be sent again after a 401, a redirect or a failed attempt.
    public let isReplayable: Bool
    let source: Source
    /// How many bytes it would have if it went out now, as far as that can be told.
    let measure: @Sendable () -> Int64?

    enum Source: Sendable {
        case bytes(Data)
        case encoded(@Sendable (JSONEncoder) throws -> Data)
        /// Called once an attempt: length and bytes come together, so that they agree.
        case stream(@Sendable () throws -> OutgoingBody)
    }

    init(
        contentType: String?, isReplayable: Bool = true, source: Source,
        measure: @escaping @Sendable () -> Int64? = { nil }
    ) {
        self.contentType = contentType
        self.isReplayable = isReplayable
        self.source = source
        self.measure = measure
    }

    /// Bytes as they are.
    public static func bytes(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, source: .bytes(data))
    }

    /// A text in UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        .bytes(Data(text.utf8), contentType: contentType)
    }

    /// A value as JSON, encoded by the client's encoder when the call is made.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(contentType: "application/json", source: .encoded { try $0.encode(value) })
    }

    /// A form as browsers send it (`application/x-www-form-urlencoded`, WHATWG URL standard).
    public static func form(_ fields: Query) -> RequestBody {
        .bytes(Data(FormEncoding.encode(fields).utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// A file, streamed from disk on each attempt. Its size is taken when the attempt starts; a file that is not there
    /// fails the call before anything is sent, and one that changes its size meanwhile breaks it off, both with
    /// ``NetworkError/invalidRequest(_:_:)``, whose text names the file and what is wrong with it.
    /// - Parameters:
    ///   - path: Where the file is.
    ///   - contentType: Its media type; guessed from the name where `nil`.
    public static func file(at path: String, contentType: String? = nil) -> RequestBody {
        RequestBody(
            contentType: contentType ?? MediaType.forFile(named: path),
            source: .stream {
                let size = try FileChunks.size(ofFileAt: path)
                return OutgoingBody(ByteStream(FileChunks(path: path, size: size)), length: size)
            }, measure: { try? FileChunks.size(ofFileAt: path) })
    }

    /// A file, streamed from disk on each attempt. See ``file(at:contentType:)``.
    public static func file(_ url: URL, contentType: String? = nil) -> RequestBody {
        .file(at: url.path, contentType: contentType)
    }

    /// A stream that can be made anew for each attempt.
    /// - Parameters:
    ///   - length: The exact number of bytes, if known; without it the body goes out chunked. A stream that yields
    ///     more or fewer breaks the call off with ``NetworkError/invalidRequest(_:_:)``.
    ///   - contentType: The media type.
    ///   - open: Makes the stream; called once an attempt.
    public static func stream(
        length: Int64?, contentType: String?, open: @escaping @Sendable () throws -> ByteStream
    ) -> RequestBody {
        RequestBody(
            contentType: contentType,
            source: .stream { OutgoingBody(try open().exactly(length, of: "The body"), length: length) },
            measure: { length })
    }

    /// A sequence that can be read only once. If the call must be sent again, it fails with
    /// ``NetworkError/bodyNotReplayable(_:_:)``.
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - length: The exact number of bytes, if known.
    ///   - contentType: The media type.
    public static func oneShot<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody where Chunks.Element == Data {
        let open = ByteStream.openedOnce(chunks)
        return RequestBody(
            contentType: contentType, isReplayable: false,
            source: .stream { OutgoingBody(try open().exactly(length, of: "The body"), length: length) },
            measure: { length })
    }

    /// Parts, as `multipart/form-data` (RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(
            contentType: form.contentType, isReplayable: form.isReplayable,
            source: .stream { try form.outgoing() }, measure: { (try? form.contentLength()) ?? nil })
    }
}

/// Percent-encoding of form fields: everything but letters, digits and `*-._` is escaped, a space is a plus.
enum FormEncoding {
    static func encode(_ fields: Query) -> String {
        fields.items.map { "\(encode($0.name))=\(encode($0.value ?? ""))" }.joined(separator: "&")
    }

    static func encode(_ text: String) -> String {
        let escaped = PercentEncoding.encode(text) { byte in
            byte == UInt8(ascii: "*") || byte == UInt8(ascii: " ")
                || (PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "~"))
        }
        return String(decoding: escaped.utf8.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }
}
