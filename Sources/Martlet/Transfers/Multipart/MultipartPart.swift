internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One part of a form: its header fields, and the source of its content.
struct MultipartPart: Sendable {
    /// The source of the part's bytes.
    enum Content: Sendable {
        case bytes(Data)
        case file(String)
        case measuredFile(String, size: Int64)
        case stream(length: Int64?, isReplayable: Bool, open: @Sendable () throws -> ByteStream)
    }

    static let end = Data("\r\n".utf8)

    let heading: Heading
    /// The media type; `nil` sends none, or guesses it from the content of a file.
    private let contentType: String?
    /// The delimiter, the header fields and the empty line. If the name of a file does not tell its type,
    /// ``measured()`` adds the type of its content.
    private(set) var head: Data
    private(set) var content: Content

    /// The fields of a part's head, without its media type.
    struct Heading: Sendable {
        let boundary: String
        let name: String
        let filename: String?
        let headers: HTTPFields
    }

    init(_ heading: Heading, contentType: String?, content: Content) {
        self.heading = heading
        self.contentType = contentType
        self.content = content
        self.head = heading.encodedHead(contentType: contentType)
    }

    /// The length of the content, if it is known without inspecting a file.
    var length: Int64? {
        switch content {
        case .bytes(let data): Int64(data.count)
        case .file: nil
        case .measuredFile(_, let size): size
        case .stream(let length, _, _): length
        }
    }

    /// The part, with the size of its file.
    func measured() throws -> MultipartPart {
        var result = self
        switch content {
        case .bytes, .measuredFile: break
        case .file(let path):
            let file = try FileChunks.readStart(ofFileAt: path, upTo: contentType == nil ? MediaType.contentPrefix : 0)
            result.content = .measuredFile(path, size: file.size)
            if contentType == nil {
                result.head = heading.encodedHead(contentType: MediaType.forContent(file.start) ?? MediaType.unknown)
            }
        case .stream(let length, _, _):
            guard length ?? 0 >= 0 else {
                throw InvalidRequestError("\(description) cannot have a length of \(length ?? 0) bytes.")
            }
        }
        return result
    }

    /// The part, with its single-use stream opened. Opening it a second time throws before anything is sent.
    func withOpenedStream() throws -> MultipartPart {
        guard case .stream(let length, isReplayable: false, let open) = content else { return self }
        var result = self
        let stream = try open()
        result.content = .stream(length: length, isReplayable: false, open: { stream })
        return result
    }

    /// The name of the part in error texts.
    var description: String { "The part \"\(heading.name)\"" }
}

extension MultipartPart.Heading {
    fileprivate func encodedHead(contentType: String?) -> Data {
        var text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if let filename { text += "; filename=\"\(Self.escaped(filename))\"" }
        text += "\r\n"
        var fields = headers
        fields[.contentDisposition] = nil
        fields[.contentType] = contentType ?? headers[.contentType]
        for field in fields {
            // HTTPField has replaced line breaks and NULs with spaces.
            text += "\(field.name.rawName): \(field.value)\r\n"
        }
        return Data((text + "\r\n").utf8)
    }

    /// The escaping of "multipart form data" in the WHATWG HTML standard, and of NUL.
    private static func escaped(_ text: String) -> String {
        // Compare bytes: a quote with a combining accent is a Character other than a quote, and CR LF is a single
        // Character.
        guard text.utf8.contains(where: { escapes[$0] != nil }) else { return text }
        var result: [UInt8] = []
        for byte in text.utf8 {
            if let escape = escapes[byte] { result.append(contentsOf: escape.utf8) } else { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let escapes: [UInt8: String] = [
        UInt8(ascii: "\""): "%22", UInt8(ascii: "\r"): "%0D", UInt8(ascii: "\n"): "%0A", 0: "%00",
    ]
}
