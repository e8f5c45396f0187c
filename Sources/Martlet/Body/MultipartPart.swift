internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One part of a form: its content may still be elsewhere.
struct MultipartPart: Sendable {
    enum Content: Sendable {
        case bytes(Data)
        case file(String)
        /// A file whose size has been taken.
        case measuredFile(String, size: Int64)
        case stream(length: Int64?, isReplayable: Bool, open: @Sendable () throws -> ByteStream)
    }

    static let end = Data("\r\n".utf8)

    let heading: Heading
    /// The media type; `nil` sends none, or is found out from the content of a file.
    private let contentType: String?
    /// Delimiter, header fields and the empty line. Of a file whose name does not tell its type it is written when the
    /// file is looked at.
    private(set) var head: Data
    private(set) var content: Content

    /// What a part's head says, but for its media type.
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
        self.head = heading.written(contentType: contentType)
    }

    /// How many bytes the content has, where that is known without looking at a file.
    var length: Int64? {
        switch content {
        case .bytes(let data): Int64(data.count)
        case .file: nil
        case .measuredFile(_, let size): size
        case .stream(let length, _, _): length
        }
    }

    /// The part with the size of its file, as far as it has one.
    func measured() throws -> MultipartPart {
        var result = self
        switch content {
        case .bytes, .measuredFile: break
        case .file(let path):
            let file = try FileChunks.look(at: path, upTo: contentType == nil ? MediaType.contentPrefix : 0)
            result.content = .measuredFile(path, size: file.size)
            if contentType == nil {
                result.head = heading.written(contentType: MediaType.forContent(file.start) ?? MediaType.unknown)
            }
        case .stream(let length, _, _):
            guard length ?? 0 >= 0 else {
                throw RequestProblem("\(description) cannot have a length of \(length ?? 0) bytes.")
            }
        }
        return result
    }

    /// The part with its one-shot stream opened, if it has one: a second claim throws before anything is sent.
    func claimed() throws -> MultipartPart {
        guard case .stream(let length, isReplayable: false, let open) = content else { return self }
        var result = self
        let stream = try open()
        result.content = .stream(length: length, isReplayable: false, open: { stream })
        return result
    }

    /// What errors call the part.
    var description: String { "The part \"\(heading.name)\"" }
}

extension MultipartPart.Heading {
    fileprivate func written(contentType: String?) -> Data {
        var text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if let filename { text += "; filename=\"\(Self.escaped(filename))\"" }
        text += "\r\n"
        var fields = headers
        fields[.contentDisposition] = nil
        fields[.contentType] = contentType ?? headers[.contentType]
        for field in fields {
            // HTTPField has made spaces of line breaks and NULs.
            text += "\(field.name.rawName): \(field.value)\r\n"
        }
        return Data((text + "\r\n").utf8)
    }

    /// The escaping of the WHATWG's HTML standard, "multipart form data", and of NUL.
    private static func escaped(_ text: String) -> String {
        // By bytes: a quote with a combining accent is one Character that equals no quote, and CR LF is one too.
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
