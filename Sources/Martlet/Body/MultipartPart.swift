internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One part of a form, ready to be written: its head is bytes already, its content may still be elsewhere.
struct MultipartPart: Sendable {
    enum Content: Sendable {
        case bytes(Data)
        case file(String)
        /// A file whose size has been taken.
        case measuredFile(String, size: Int64)
        case stream(length: Int64?, isReplayable: Bool, open: @Sendable () throws -> ByteStream)
    }

    static let end = Data("\r\n".utf8)

    let name: String
    /// Delimiter, header fields and the empty line.
    let head: Data
    var content: Content

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
        case .file(let path): result.content = .measuredFile(path, size: try FileChunks.size(ofFileAt: path))
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
    var description: String { "The part \"\(name)\"" }

    static func head(
        boundary: String, name: String, filename: String?, contentType: String?, headers: HTTPFields
    ) -> Data {
        var text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(escaped(name))\""
        if let filename { text += "; filename=\"\(escaped(filename))\"" }
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
