public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Fields and files in one body: `multipart/form-data` (RFC 7578), written as browsers write it.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("Ada", named: "name")
/// form.append(picture, named: "image", filename: "me.jpg")
/// form.append(fileAt: "/tmp/cv.pdf", named: "cv")
/// let body = RequestBody.multipart(form)
/// ```
///
/// Parts go out in the order in which they were appended. Nothing is read until the form is sent: files are then
/// streamed from disk, so a form of any size takes the same small amount of memory. A form can be sent again and again
/// unless it has a one-shot part.
///
/// Names and filenames may hold anything. As the WHATWG's HTML standard has it, a `"` goes out as `%22`, a carriage
/// return as `%0D`, a line feed as `%0A`, and the rest as UTF-8; a NUL, which C programs take for the end, as `%00`. In
/// content types and part headers, what a header may not contain becomes a space. So no input can add a header or a part.
public struct MultipartForm: Sendable {
    /// What stands between the parts (RFC 2046, section 5.1.1).
    public let boundary: String
    /// Whether the form can be sent more than once: it has no one-shot part.
    public private(set) var isReplayable = true
    private var parts: [MultipartPart] = []

    /// An empty form with a random boundary of 142 bits, which no content contains by chance.
    ///
    /// So nobody looks: to search every byte costs time, and is no safer than the memory that it is searched in. Whoever
    /// could put the boundary into a part would have to know it before the form is made.
    public init() {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var generator = SystemRandomNumberGenerator()
        boundary = "martlet-" + String((0..<24).compactMap { _ in alphabet.randomElement(using: &generator) })
    }

    /// An empty form with a boundary of your own, for tests. No part may contain it: nobody looks.
    /// - Parameter boundary: 1 to 70 letters, digits and `'()+_,-./:=?` or spaces, and no space at the end.
    /// - Throws: ``RequestProblem`` if RFC 2046, section 5.1.1, does not allow the boundary.
    public init(boundary: String) throws(RequestProblem) {
        let bytes = boundary.utf8
        guard (1...70).contains(bytes.count), bytes.last != UInt8(ascii: " "), bytes.allSatisfy(Self.isBoundaryByte)
        else {
            throw RequestProblem(
                "A multipart boundary is 1 to 70 letters, digits and '()+_,-./:=? or spaces, with no space at the end.")
        }
        self.boundary = boundary
    }

    /// The media type with the boundary, for the `Content-Type` of the request.
    public var contentType: String {
        let isToken = boundary.utf8.allSatisfy { byte in
            PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "+")
        }
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// Adds a text in UTF-8.
    /// - Parameters:
    ///   - text: The value; goes out as it is.
    ///   - name: The field's name.
    ///   - contentType: Its media type; none is sent where `nil`, which means plain text (RFC 7578, section 4.4).
    ///   - headers: Further header fields of the part.
    public mutating func append(
        _ text: String, named name: String, contentType: String? = nil, headers: HTTPFields = [:]
    ) {
        append(.bytes(Data(text.utf8)), name, nil, contentType, headers)
    }

    /// Adds bytes that are in memory.
    /// - Parameters:
    ///   - data: The bytes.
    ///   - name: The field's name.
    ///   - filename: What the server is to call the file; it takes a part without one for a plain field.
    ///   - contentType: The media type; by the extension of `filename` where `nil`, else by the first bytes, else
    ///     `application/octet-stream`.
    ///   - headers: Further header fields of the part.
    public mutating func append(
        _ data: Data, named name: String, filename: String? = nil, contentType: String? = nil,
        headers: HTTPFields = [:]
    ) {
        let type =
            contentType ?? headers[.contentType] ?? filename.flatMap(MediaType.forExtension(of:))
            ?? MediaType.forContent(data) ?? MediaType.unknown
        append(.bytes(data), name, filename, type, headers)
    }

    /// Adds a file, streamed from disk each time the form is sent.
    ///
    /// The file is looked at when the form is sent: if it is missing or cannot be read, the call fails with
    /// ``NetworkError/invalidRequest(_:_:)``, whose text names it, before the first byte goes out.
    /// - Parameters:
    ///   - path: Where the file is.
    ///   - name: The field's name.
    ///   - filename: What the server is to call the file; the last component of the path where `nil`.
    ///   - contentType: The media type; by the extension of the filename, then of the path, where `nil`, else by the
    ///     file's first bytes when the form is sent, else `application/octet-stream`.
    ///   - headers: Further header fields of the part.
    public mutating func append(
        fileAt path: String, named name: String, filename: String? = nil, contentType: String? = nil,
        headers: HTTPFields = [:]
    ) {
        let ownName = path.split(separator: "/").last.map(String.init) ?? path
        let type =
            contentType ?? headers[.contentType] ?? filename.flatMap(MediaType.forExtension(of:))
            ?? MediaType.forExtension(of: ownName)
        append(.file(path), name, filename ?? ownName, type, headers)
    }

    /// Adds a stream that can be made anew each time the form is sent.
    /// - Parameters:
    ///   - open: Makes the stream; called once a pass.
    ///   - length: The exact number of bytes, if known; without it the whole form goes out without a length. A stream
    ///     that yields more or fewer breaks the call off with ``NetworkError/invalidRequest(_:_:)``.
    ///   - name: The field's name.
    ///   - filename: What the server is to call the file; it takes a part without one for a plain field.
    ///   - contentType: The media type; by the extension of `filename` where `nil`, else `application/octet-stream`.
    ///   - headers: Further header fields of the part.
    public mutating func append(
        stream open: @escaping @Sendable () throws -> ByteStream, length: Int64?, named name: String,
        filename: String? = nil, contentType: String? = nil, headers: HTTPFields = [:]
    ) {
        let type = contentType ?? headers[.contentType] ?? MediaType.forFile(named: filename ?? "")
        append(.stream(length: length, isReplayable: true, open: open), name, filename, type, headers)
    }

    /// Adds a sequence that can be read only once: the form can then be sent only once.
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - length: The exact number of bytes, if known; as for a stream that can be made anew.
    ///   - name: The field's name.
    ///   - filename: What the server is to call the file; it takes a part without one for a plain field.
    ///   - contentType: The media type; by the extension of `filename` where `nil`, else `application/octet-stream`.
    ///   - headers: Further header fields of the part.
    public mutating func append<Chunks: AsyncSequence & Sendable>(
        oneShot chunks: Chunks, length: Int64? = nil, named name: String, filename: String? = nil,
        contentType: String? = nil, headers: HTTPFields = [:]
    ) where Chunks.Element == Data {
        let type = contentType ?? headers[.contentType] ?? MediaType.forFile(named: filename ?? "")
        let open = ByteStream.openedOnce(chunks)
        append(.stream(length: length, isReplayable: false, open: open), name, filename, type, headers)
        isReplayable = false
    }

    /// How many bytes the form has with all its framing, or `nil` if a stream does not know its length.
    /// - Throws: ``FileProblem`` if a file is missing or cannot be read; ``RequestProblem`` for an impossible length.
    public func contentLength() throws -> Int64? {
        try length(of: measured())
    }

    /// The form as bytes, for one pass over its parts.
    ///
    /// The sizes of all files are taken now. A file that has another size when its turn comes breaks the pass off
    /// with ``FileProblem``, so that what is sent is always framed right.
    /// - Throws: ``FileProblem`` if a file is missing or cannot be read; ``RequestProblem`` for an impossible length;
    ///   an error for a form that is not replayable and has been streamed before.
    public func stream() throws -> ByteStream {
        try opened().bytes
    }

    /// Length and bytes of one attempt, from one look at the files.
    func outgoing() throws -> OutgoingBody {
        let (length, bytes) = try opened()
        return OutgoingBody(bytes, length: length)
    }

    private func opened() throws -> (length: Int64?, bytes: ByteStream) {
        let measured = try measured()
        let length = try length(of: measured)
        let parts = try measured.map { try $0.claimed() }
        let closing = closing
        let stream = ByteStream {
            var pass = MultipartPass(parts: parts, closing: closing)
            return { try await pass.next() }
        }
        return (length, stream)
    }

    private mutating func append(
        _ content: MultipartPart.Content, _ name: String, _ filename: String?, _ contentType: String?,
        _ headers: HTTPFields
    ) {
        let heading = MultipartPart.Heading(boundary: boundary, name: name, filename: filename, headers: headers)
        parts.append(MultipartPart(heading, contentType: contentType, content: content))
    }

    private var closing: Data { Data("--\(boundary)--\r\n".utf8) }

    private func measured() throws -> [MultipartPart] {
        try parts.map { try $0.measured() }
    }

    private func length(of parts: [MultipartPart]) throws(RequestProblem) -> Int64? {
        var sum = Int64(closing.count)
        for part in parts {
            guard let content = part.length else { return nil }
            let framing = Int64(part.head.count + MultipartPart.end.count)
            let (withContent, overflowed) = sum.addingReportingOverflow(content)
            let (whole, overflowedAgain) = withContent.addingReportingOverflow(framing)
            guard !overflowed, !overflowedAgain else {
                throw RequestProblem("The form is longer than 2^63 bytes; check the lengths given for its streams.")
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
