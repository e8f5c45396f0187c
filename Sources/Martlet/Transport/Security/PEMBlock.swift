#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One block of a PEM text (RFC 7468): the content between `-----BEGIN LABEL-----` and `-----END LABEL-----`.
struct PEMBlock: Sendable, Hashable {
    var label: String
    var bytes: Data

    /// All blocks of some text, or `nil` if one of them is not complete or not base64. Text around the blocks is
    /// skipped.
    static func all(in text: String) -> [PEMBlock]? {
        var blocks: [PEMBlock] = []
        var open: (label: String, base64: String)?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " || $0 == "\t" }
            if let label = label(of: line, "-----BEGIN ") {
                guard open == nil else { return nil }
                open = (label, "")
            } else if let label = label(of: line, "-----END ") {
                guard let block = open, block.label == label, let bytes = Data(base64Encoded: block.base64) else {
                    return nil
                }
                blocks.append(PEMBlock(label: label, bytes: bytes))
                open = nil
            } else if open != nil {
                open?.base64 += line.filter { !$0.isWhitespace }
            }
        }
        return open == nil ? blocks : nil
    }

    private static func label(of line: Substring, _ start: String) -> String? {
        guard line.hasPrefix(start) else { return nil }
        let rest = line.dropFirst(start.count)
        guard let end = rest.firstRange(of: "-----") else { return nil }
        return String(rest[..<end.lowerBound])
    }
}
