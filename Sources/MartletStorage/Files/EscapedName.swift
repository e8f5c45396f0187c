/// Converts any text to a file name, and back. Two texts never share a name, even if the file system ignores case.
///
/// Lower-case letters, digits, `-` and `_` stay; every other byte becomes `%` and two digits.
package enum EscapedName {
    /// In bytes. File names have at most 255, and the name of a temporary file is longer than that of its file. The
    /// rest of a longer text becomes a name in a subfolder.
    private static let maximumNameLength = 200

    /// A relative path without a dot in it.
    package static func path(of text: String) -> String {
        var name: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                name.append(byte)
            default:
                name += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            }
        }
        // The name of the empty text: a lone % occurs in no other name.
        guard !name.isEmpty else { return "%" }
        let parts = stride(from: 0, to: name.count, by: maximumNameLength).map { start in
            String(decoding: name[start..<min(start + maximumNameLength, name.count)], as: UTF8.self)
        }
        return parts.joined(separator: "/")
    }

    /// The text with this path; `nil` if there is none.
    package static func text(at path: String) -> String? {
        guard path != "%" else { return "" }
        var bytes: [UInt8] = []
        var rest = Substring(path.replacing("/", with: ""))
        while let next = rest.popFirst() {
            guard next == "%" else {
                bytes += String(next).utf8
                continue
            }
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        // Reject other programs' files: their names are not exact encodings, or decode to invalid UTF-8.
        return Self.path(of: text) == path ? text : nil
    }

    /// Calls the closure for this folder and each subfolder that may contain encoded names. The path is relative to
    /// this folder, and empty for this folder itself. A missing folder counts as empty.
    package static func forEachFolder(
        below folder: String, at path: String = "", _ body: (_ path: String, _ names: [String]) -> Void
    ) throws(StorageError) {
        let here = path.isEmpty ? folder : "\(folder)/\(path)"
        var names: [String] = []
        do {
            try Disk.forEachName(in: here) { names.append($0) }
        } catch {
            guard !Disk.isNowhere(here) else {
                throw StorageError(.unreachable, "could not list \(here): \(Disk.reason(at: here))")
            }
            if error.isMissing { return }
            throw StorageError(.unreachable, "could not list \(here): \(error.description). Check its permissions")
        }
        body(path, names)
        for name in names where !name.contains(".") {
            try forEachFolder(below: folder, at: path.isEmpty ? name : "\(path)/\(name)", body)
        }
    }
}
