#if DEBUG
    import MartletLibc

    @testable import Martlet

    @testable import MartletStorage

    /// A device with Data Protection. While it is locked, the system refuses to open its files with `EPERM`.
    final class LockedDevice: Sendable {
        /// The protection class of a file or folder, and whether the file was empty when it got the class.
        struct Entry: Sendable, Hashable {
            let name: String
            let dataClass: DataProtection.Class
        }

        let entries = Locked<Set<Entry>>([])
        let filled = Locked<[String]>([])

        var steps: FileSteps {
            FileSteps(
                protection: DataProtection { path, dataClass in
                    var status = stat()
                    stat(path, &status)
                    let name = String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...])
                    // Remove the random part of a temporary name.
                    let parts = name.split(separator: ".")
                    let isTemporary = name.hasPrefix(".") && name.hasSuffix(".tmp")
                    let shown = isTemporary ? parts.dropLast(3).joined(separator: ".") : name
                    self.entries.withLock { _ = $0.insert(Entry(name: shown, dataClass: dataClass)) }
                    if isTemporary, status.st_size > 0 { self.filled.withLock { $0.append(shown) } }
                })
        }

        /// Locks the device while the closure runs.
        /// - Parameters:
        ///   - folder: The folder in which files cannot be opened.
        ///   - ending: The end of their paths.
        static func whileLocked(
            _ folder: TemporaryFolder, ending: String = "", _ body: () async throws -> Void
        ) async rethrows {
            try await SystemFaults.inject(["open": EPERM], in: folder, ending: ending, body)
        }
    }

    extension SystemFaults {
        /// Fails calls in a folder while the closure runs.
        static func inject(
            _ errors: [String: Int32], in folder: TemporaryFolder, ending: String = "", _ body: () async throws -> Void
        ) async rethrows {
            try await inject(errors, in: folder.path, ending: ending, body)
        }
    }
#endif
