/// Names of files for any text, and back: no two texts have one name, and no file system takes two names for one.
///
/// Lower-case letters, digits, `-` and `_` stand for themselves; every other byte is `%` and two digits.
enum EscapedName {
    /// Names of files end at 255 bytes, of which temporary files want some; a long text goes on in a folder below.
    private static let longestName = 200

    /// A relative path without a dot in it.
    static func path(of text: String) -> String {
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
        // An empty text would have no name of its own.
        guard !name.isEmpty else { return "%" }
        let parts = stride(from: 0, to: name.count, by: longestName).map { start in
            String(decoding: name[start..<min(start + longestName, name.count)], as: UTF8.self)
        }
        return parts.joined(separator: "/")
    }

    /// The text that has this path; `nil` where none has.
    static func text(at path: String) -> String? {
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
        // Somebody else's file may look like one of ours, and is none; so is one whose bytes are no text.
        return Self.path(of: text) == path ? text : nil
    }

    /// Calls the closure with each folder that may have something of ours in it, as a path below this one (empty for
    /// itself), and with the names in it. What is not there, or no folder, has nothing in it.
    static func forEachFolder(
        below folder: String, at path: String = "", _ body: (_ path: String, _ names: [String]) -> Void
    ) throws(StorageFailure) {
        let here = path.isEmpty ? folder : "\(folder)/\(path)"
        var names: [String] = []
        do {
            try Disk.forEachName(in: here) { names.append($0) }
        } catch {
            if error.isForWantOfFolder { return }
            throw StorageFailure(.unreachable, "could not read \(here): \(error.description)")
        }
        body(path, names)
        for name in names where !name.contains(".") {
            try forEachFolder(below: folder, at: path.isEmpty ? name : "\(path)/\(name)", body)
        }
    }
}
