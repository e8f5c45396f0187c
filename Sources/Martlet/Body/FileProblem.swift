/// Why a file could not be sent, or not be written.
public struct FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it was.
    public enum Kind: Sendable, Hashable {
        /// There is nothing at the path: no file to send, no folder to write to.
        case missing
        /// A directory, a pipe, a device: nothing that has a size and an end.
        case notRegular
        /// There is a file or a folder, and this program may not use it.
        case forbidden
        /// The file has another size now than when its length was announced, so sending it would break the framing.
        case changed
        /// The system could not read it; holds the system's error number.
        case unreadable(errno: Int32)
        /// There is something at the path already that is not to be replaced, or cannot be.
        case exists
        /// The disk is full, or the user's share of it.
        case noSpace
        /// The system could not write it; holds the system's error number.
        case unwritable(errno: Int32)
    }

    /// What kind of trouble it was.
    public let kind: Kind
    /// The path as it was given.
    public let path: String

    init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }

    /// Which file it is, what is wrong with it, and what to do.
    public var description: String {
        switch kind {
        case .missing:
            "There is nothing at \"\(path)\". Check the path, and keep what is sent until it has gone out."
        case .notRegular:
            "\"\(path)\" is a directory or a special file. Give the path of a regular file, or send a stream."
        case .forbidden:
            "This program may not use \"\(path)\". Change its permissions or the program's entitlements."
        case .changed:
            "\"\(path)\" changed its size while it was being sent. Send it again, or send a copy that nobody writes to."
        case .unreadable(let number):
            "\"\(path)\" could not be read (system error \(number)). Check the disk and try again."
        case .exists:
            "There is something at \"\(path)\" already. Move it away, choose another name, or allow it to be replaced."
        case .noSpace:
            "There is no space left for \"\(path)\". Free some and try again."
        case .unwritable(let number):
            "\"\(path)\" could not be written (system error \(number)). Check that its folder is there, and may be written to."
        }
    }
}
