internal import MartletLibc

/// An error while reading or writing a file.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Kind: Sendable, Hashable {
        /// The file to read does not exist.
        case missing
        /// The folder to write to does not exist.
        case missingFolder
        /// A part of the path to the folder is not a folder.
        case notFolder
        /// The path to write to is empty, or contains a NUL.
        case noName
        /// The path to write to is a directory.
        case directory
        /// The path to write to is a pipe, a device or a socket.
        case special
        /// The path to read is a directory, a pipe or a device, not a regular file.
        case notRegular
        /// The program has no permission for the file or folder.
        case forbidden
        /// The size of the file changed after it was announced, so sending the file would break the framing of the
        /// request.
        case changed
        /// The file cannot be read; `errno` is the system's error number.
        case unreadable(errno: Int32)
        /// A file or folder exists at the path, and may not or cannot be replaced.
        case exists
        /// While the app was suspended, another download used the unfinished file.
        case takenOver
        /// The file system can neither rename a file without replacing another nor link it.
        case unsupported
        /// The disk is full, or the user's quota is exhausted.
        case noSpace
        /// The file cannot be written; `errno` is the system's error number.
        case unwritable(errno: Int32)

        /// Whether a file could not be read, as opposed to written.
        package var concernsReading: Bool {
            switch self {
            case .missing, .notRegular, .forbidden, .changed, .unreadable: true
            case .missingFolder, .notFolder, .noName, .directory, .special, .exists, .takenOver, .unsupported, .noSpace,
                .unwritable:
                false
            }
        }
    }

    /// The kind of failure.
    package let kind: Kind
    /// The path, as passed by the caller.
    package let path: String

    package init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }

    /// Whether the path is written as a path in a home folder.
    private var isInHome: Bool { path == "~" || path.hasPrefix("~/") }

    #if canImport(Darwin)
        private static let entitlements = " or the program's entitlements"
    #else
        private static let entitlements = ""
    #endif

    /// A message that says what went wrong, with the path, and what to do next.
    package var description: String {
        switch kind {
        case .missing where isInHome, .missingFolder where isInHome:
            "\"\(path)\" does not exist: only a shell expands \"~\". Give an absolute path."
        case .missing:
            "There is nothing at \"\(path)\". Check the path. The file must stay there until it has been read."
        case .missingFolder:
            "The folder \"\(path)\" does not exist. Create it first."
        case .notFolder:
            "\"\(path)\" is not a folder, or is below a file. Give the path of a file in a folder."
        case .noName:
            "The path to write to is empty, or contains a NUL. Give the path of a file."
        case .directory:
            "\"\(path)\" is a directory. Add the name of a file."
        case .special:
            "\"\(path)\" is a pipe, a device or a socket, which a file would replace. Give the path of a regular file."
        case .notRegular:
            "\"\(path)\" is a directory or a special file. Give the path of a regular file, or send a stream."
        case .forbidden:
            "This program has no permission for \"\(path)\". Change the permissions\(Self.entitlements)."
        case .changed:
            "The size of \"\(path)\" changed while it was being sent. Send it again, or send a copy that does not "
                + "change."
        case .unreadable(let number):
            "\"\(path)\" could not be read (\(String(cString: strerror(number)))). Check the disk and try again."
        case .exists:
            "\"\(path)\" exists already. Move it away, choose another name, or allow replacing it."
        case .takenOver:
            "While this app was suspended, another download used the unfinished file of \"\(path)\". Download it again."
        case .unsupported:
            "The file system of \"\(path)\" can neither rename a file without replacing another nor link it. Allow "
                + "replacing, or use another disk."
        case .noSpace:
            "There is no space left for \"\(path)\". Free some space and try again."
        case .unwritable(let number):
            "\"\(path)\" could not be written (\(String(cString: strerror(number)))). Check that its folder exists and is "
                + "writable."
        }
    }
}
