/// The header fields of one part.
struct MultipartHeaders: Equatable {
    /// The name of the form field.
    let name: String
    /// The file name, if the part is a file.
    let filename: String?
    /// The media type with its parameters, if present.
    let contentType: String?

    /// Parses a header block; `nil` if it names no form field.
    init?(_ block: String) {
        var disposition: HeaderParameters?
        var contentType: String?
        for line in block.split(separator: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { return nil }
            switch halves[0].lowercased() {
            case "content-disposition": disposition = HeaderParameters(halves[1].trimmingBlanks)
            case "content-type": contentType = halves[1].trimmingBlanks
            default: break
            }
        }
        guard let disposition, disposition.value == "form-data", let name = disposition["name"] else { return nil }
        self.name = Self.unescape(name)
        filename = disposition["filename"].map(Self.unescape)
        self.contentType = contentType
    }

    /// Decodes the escapes of names defined by the WHATWG's HTML standard. Other percent signs are kept.
    private static func unescape(_ text: String) -> String {
        // Bytes, not characters: the last digit of an escape and a following accent form one Character.
        let escapes: [(escape: String, byte: UInt8)] = [("%22", 0x22), ("%0D", 0x0D), ("%0A", 0x0A)]
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            let found = escapes.first { rest.starts(with: $0.escape.utf8) }
            bytes.append(found?.byte ?? byte)
            rest = rest.dropFirst(found?.escape.utf8.count ?? 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
