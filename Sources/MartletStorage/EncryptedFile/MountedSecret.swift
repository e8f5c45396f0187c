#if Encryption
    internal import MartletLibc

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// A file that an orchestrator mounts into a container.
    ///
    /// In Kubernetes it is a link to `..data/<name>`, and `..data` is a link to a folder with the current version. A
    /// rotation replaces the link `..data`, and then removes the folder of the previous version.
    struct MountedSecret {
        let path: String

        /// The number of attempts to read the secret. An attempt fails if the secret is rotated in between.
        private static let attempts = 16
        /// The number of symbolic links that Linux follows to resolve one path (path_resolution(7)).
        private static let maximumLinks = 40
        /// In bytes. No supported system allows a longer link target.
        private static let longestPath = 4096
        private static let stickyBit: mode_t = 0o1000

        /// Reads the file. Blocks.
        /// - Returns: `nil` if there is none.
        func read() throws(StorageError) -> Data? {
            for _ in 0..<Self.attempts {
                if let file = try resolved(), let bytes = try PrivateFile(path: file).read(.unchangeable) {
                    return bytes
                }
            }
            return nil
        }

        /// Follows the links from the mounted path, and checks that no other user can change one of them.
        /// - Returns: The path of the file; `nil` if there is none.
        private func resolved() throws(StorageError) -> String? {
            let (start, name) = PrivateFile(path: path).location
            var folder = start
            var rest = [Substring(name)][...]
            var links = 0
            while let name = rest.popFirst() {
                var status = stat()
                guard System.stat(folder, &status) == 0 else { return try nilIfMissing(folder) }
                try check(status, of: folder)
                let isOpenToOthers = status.st_mode & 0o022 != 0 && status.st_mode & Self.stickyBit == 0
                guard !isOpenToOthers else { throw changeable(folder) }
                let entry = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
                guard System.lstat(entry, &status) == 0 else { return try nilIfMissing(entry) }
                // In a folder with the sticky bit, only the owner of an entry can replace it.
                try check(status, of: entry)
                guard status.st_mode & S_IFMT == S_IFLNK else {
                    if rest.isEmpty { return entry }
                    folder = entry
                    continue
                }
                links += 1
                guard links <= Self.maximumLinks else {
                    throw StorageError(.unreachable, "could not read \(path): its symbolic links form a loop")
                }
                guard let target = try target(of: entry) else { return nil }
                if target.hasPrefix("/") { folder = "/" }
                rest = target.split(separator: "/")[...] + rest
            }
            return nil
        }

        private func target(of link: String) throws(StorageError) -> String? {
            var bytes = [CChar](repeating: 0, count: Self.longestPath)
            let count = System.readlink(link, &bytes, bytes.count)
            guard count >= 0 else { return try nilIfMissing(link) }
            return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        private func check(_ status: stat, of entry: String) throws(StorageError) {
            guard status.st_uid != 0, status.st_uid != geteuid() else { return }
            throw changeable(entry)
        }

        private func changeable(_ entry: String) -> StorageError {
            let what = entry == path ? "it" : entry
            return StorageError(
                .unsafePermissions,
                "the secret \(path) is not trusted: other users can change \(what). Only root or the user may own it, and "
                    + "only the owner may write to it")
        }

        /// - Returns: `nil` if the last call failed because there is no such file.
        private func nilIfMissing<Value>(_ entry: String) throws(StorageError) -> Value? {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw StorageError(.unreachable, "could not read \(path): \(Disk.reason(at: path))")
            }
            return nil
        }
    }
#endif
