public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A request body of text fields and files: `multipart/form-data` (RFC 7578), encoded as browsers do.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("Ada", named: "name")
/// form.append(picture, named: "image", filename: "me.jpg")
/// form.append(fileAt: "/tmp/cv.pdf", named: "cv")
/// let body = RequestBody.multipart(form)
/// ```
///
/// Parts are sent in the order in which they were added. Files are streamed from disk when the form is sent, so memory
/// use does not depend on their size. A form can be sent again unless it has a single-use part.
///
/// Names and file names may contain any character. As in the WHATWG HTML standard, `"` is sent as `%22`, a carriage
/// return as `%0D`, a line feed as `%0A`, and other characters as UTF-8; NUL, which C programs treat as the end of a
/// string, is sent as `%00`. Characters that are invalid in a header become spaces in content types and part headers.
/// No input can add a header or a part.
public struct MultipartForm: Sendable {
    /// The delimiter between parts (RFC 2046, section 5.1.1).
    let boundary: String
    /// Whether the form can be sent more than once. It cannot if it has a single-use part.
    private(set) var isReplayable = true
    private var parts: [MultipartPart] = []

    /// Creates an empty form with a boundary that contains 142 bits of randomness.
    ///
    /// The content is not searched for the boundary: a collision by chance is less likely than a memory error, and an
    /// attacker cannot know the boundary in advance.
    public init() {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var generator = SystemRandomNumberGenerator()
        boundary = "martlet-" + String((0..<24).compactMap { _ in alphabet.randomElement(using: &generator) })
    }

    /// Creates an empty form with a given boundary, for tests. No part may contain it; this is not checked.
    /// - Parameter boundary: 1 to 70 letters, digits and `'()+_,-./:=?` or spaces, and no space at the end.
    /// - Throws: ``InvalidRequestError`` if RFC 2046, section 5.1.1, does not allow the boundary.
    init(boundary: String) throws(InvalidRequestError) {
        let bytes = boundary.utf8
        guard (1...70).contains(bytes.count), bytes.last != UInt8(ascii: " "), bytes.allSatisfy(Self.isBoundaryByte)
        else {
            throw InvalidRequestError(
                "A multipart boundary is 1 to 70 letters, digits and '()+_,-./:=? or spaces, with no space at the end.")
        }
        self.boundary = boundary
    }

    /// The media type with the boundary, for `Content-Type`.
    public var contentType: String {
        let isToken = boundary.utf8.allSatisfy { byte in
            PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "+")
        }
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// Adds a text field, in UTF-8.
    /// - Parameters:
    ///   - text: The value, sent unchanged.
    ///   - name: The name of the field.
    ///   - contentType: The media type. Without one the field is plain text (RFC 7578, section 4.4).
    ///   - headers: Additional header fields of the part.
    public mutating func append(
        _ text: String, named name: String, contentType: String? = nil, headers: HTTPFields = [:]
    ) {
        append(.bytes(Data(text.utf8)), heading(name, nil, headers), contentType: contentType)
    }

    /// Adds bytes in memory.
    /// - Parameters:
    ///   - data: The bytes.
    ///   - name: The name of the field.
    ///   - filename: The file name. Without one, servers treat the part as a plain field.
    ///   - contentType: The media type. If `nil`, the `Content-Type` in `headers`; without that, the type is guessed
    ///     from the extension of `filename`, then from the first bytes, and otherwise is `application/octet-stream`.
    ///   - headers: Additional header fields of the part.
    public mutating func append(
        _ data: Data, named name: String, filename: String? = nil, contentType: String? = nil,
        headers: HTTPFields = [:]
    ) {
        let type =
            contentType ?? headers[.contentType] ?? filename.flatMap(MediaType.forExtension(of:))
            ?? MediaType.forContent(data) ?? MediaType.unknown
        append(.bytes(data), heading(name, filename, headers), contentType: type)
    }

    /// Adds a file, streamed from disk whenever the form is sent.
    ///
    /// If the file is missing or cannot be read, the call fails before the first byte is sent, with
    /// ``NetworkError/unreadableFile(_:path:reason:)``, whose text names the file.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - name: The name of the field.
    ///   - filename: The file name. If `nil`, the last component of the path.
    ///   - contentType: The media type. If `nil`, the `Content-Type` in `headers`; without that, the type is guessed
    ///     from the extension of the file name or the path, then from the first bytes when the form is sent, and
    ///     otherwise is `application/octet-stream`.
    ///   - headers: Additional header fields of the part.
    public mutating func append(
        fileAt path: String, named name: String, filename: String? = nil, contentType: String? = nil,
        headers: HTTPFields = [:]
    ) {
        let ownName = path.split(separator: "/").last.map(String.init) ?? path
        let type =
            contentType ?? headers[.contentType] ?? filename.flatMap(MediaType.forExtension(of:))
            ?? MediaType.forExtension(of: ownName)
        append(.file(path), heading(name, filename ?? ownName, headers), contentType: type)
    }

    /// Adds a stream that can be created again whenever the form is sent.
    /// - Parameters:
    ///   - open: Creates the stream; called once per pass.
    ///   - length: The exact number of bytes, or `nil` to send the whole form without a length. If the stream yields
    ///     more or fewer bytes, the call fails with ``NetworkError/invalidRequest(_:reason:)``.
    ///   - name: The name of the field.
    ///   - filename: The file name. Without one, servers treat the part as a plain field.
    ///   - contentType: The media type. If `nil`, the `Content-Type` in `headers`; without that, the type is guessed
    ///     from the extension of `filename`, and otherwise is `application/octet-stream`.
    ///   - headers: Additional header fields of the part.
    public mutating func append(
        stream open: @escaping @Sendable () throws -> ByteStream, length: Int64?, named name: String,
        filename: String? = nil, contentType: String? = nil, headers: HTTPFields = [:]
    ) {
        let type = contentType ?? headers[.contentType] ?? MediaType.forFile(named: filename ?? "")
        append(
            .stream(length: length, isReplayable: true, open: open), heading(name, filename, headers), contentType: type
        )
    }

    /// Adds a part from a sequence that can be read only once, which makes the whole form single-use.
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - length: The exact number of bytes, or `nil` to send the whole form without a length.
    ///   - name: The name of the field.
    ///   - filename: The file name. Without one, servers treat the part as a plain field.
    ///   - contentType: The media type. If `nil`, the `Content-Type` in `headers`; without that, the type is guessed
    ///     from the extension of `filename`, and otherwise is `application/octet-stream`.
    ///   - headers: Additional header fields of the part.
    public mutating func append<Chunks: AsyncSequence & Sendable>(
        singleUse chunks: Chunks, length: Int64? = nil, named name: String, filename: String? = nil,
        contentType: String? = nil, headers: HTTPFields = [:]
    ) where Chunks.Element == Data {
        let type = contentType ?? headers[.contentType] ?? MediaType.forFile(named: filename ?? "")
        let open = ByteStream.opensOnce(chunks)
        append(
            .stream(length: length, isReplayable: false, open: open), heading(name, filename, headers),
            contentType: type)
        isReplayable = false
    }

    /// The number of bytes of the encoded form; `nil` if the length of a stream is unknown.
    ///
    /// The sizes of all files are read now, on the calling thread.
    /// - Throws: An error that names the file if it is missing or cannot be read, or the field if its length is
    ///   invalid.
    public func contentLength() throws -> Int64? {
        try length(of: measured())
    }

    /// The encoded form as a stream, for one pass.
    ///
    /// The sizes of all files are read now, on the calling thread. If a file has another size when it is sent, the
    /// stream throws an error that names the file, so that the form always has the announced length.
    /// - Throws: An error that names the file if it is missing or cannot be read, or the field if its length is
    ///   invalid; also an error for a form that is not replayable and has been streamed before.
    public func stream() throws -> ByteStream {
        try opened().bytes
    }

    /// Length and bytes of one attempt, from one inspection of the files.
    func outgoing() throws -> OutgoingBody {
        let (length, bytes) = try opened()
        return OutgoingBody(bytes, length: length, isRepeatable: isReplayable)
    }

    private func opened() throws -> (length: Int64?, bytes: ByteStream) {
        let measured = try measured()
        let length = try length(of: measured)
        let parts = try measured.map { try $0.withOpenedStream() }
        let closing = closing
        let stream = ByteStream {
            var pass = MultipartPass(parts: parts, closing: closing)
            return { try await pass.next() }
        }
        return (length, stream)
    }

    private func heading(_ name: String, _ filename: String?, _ headers: HTTPFields) -> MultipartPart.Heading {
        MultipartPart.Heading(boundary: boundary, name: name, filename: filename, headers: headers)
    }

    private mutating func append(
        _ content: MultipartPart.Content, _ heading: MultipartPart.Heading, contentType: String?
    ) {
        parts.append(MultipartPart(heading, contentType: contentType, content: content))
    }

    /// Whether measuring the form inspects files.
    var hasFiles: Bool {
        parts.contains { if case .file = $0.content { true } else { false } }
    }

    private var closing: Data { Data("--\(boundary)--\r\n".utf8) }

    private func measured() throws -> [MultipartPart] {
        try parts.map { try $0.measured() }
    }

    private func length(of parts: [MultipartPart]) throws(InvalidRequestError) -> Int64? {
        var sum = Int64(closing.count)
        for part in parts {
            guard let content = part.length else { return nil }
            let framing = Int64(part.head.count + MultipartPart.end.count)
            let (withContent, overflowed) = sum.addingReportingOverflow(content)
            let (whole, overflowedAgain) = withContent.addingReportingOverflow(framing)
            guard !overflowed, !overflowedAgain else {
                throw InvalidRequestError("The form is longer than 2^63 bytes. Check the lengths of its streams.")
            }
            sum = whole
        }
        return sum
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "'()+_,-./:=? ".utf8.contains(byte)
        }
    }
}
