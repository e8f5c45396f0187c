#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    internal import MartletLibc

    /// A request body in a temporary file. FoundationNetworking accepts a large body only as a file with a name.
    ///
    /// The file is anonymous while it is written, gets a name when it is complete, and loses it when
    /// FoundationNetworking has opened it. (FoundationNetworking would take the length of a path such as
    /// `/proc/self/fd/N` from the link.) On file systems without anonymous files it has a name from the start. Only the
    /// current user can read it, and the next spooled body removes the stale files of killed processes.
    final class SpooledBody: Sendable {
        private static let prefix = "martlet-upload-"

        let path: String
        private let descriptor: Int32
        private let hasName: Locked<Bool>
        private let size = Locked(0)

        var count: Int { size.withLock { $0 } }

        /// Writes a complete body to a file.
        /// - Parameters:
        ///   - start: The part that has already been read.
        ///   - pieces: The rest.
        ///   - progress: Called after each chunk.
        static func make(
            _ start: Data, then pieces: consuming OutgoingPieces, progress: () -> Void
        ) async throws -> SpooledBody {
            let queue = BlockingQueue("martlet.spooled-body")
            func onDisk<Result: Sendable>(
                _ work: @escaping @Sendable () throws(FileError) -> Result
            ) async throws -> Result {
                do {
                    return try await queue.run(work)
                } catch {
                    throw TransportError.bodyFailed(error)
                }
            }
            let body = try await onDisk { () throws(FileError) in
                try SpooledBody(in: FileManager.default.temporaryDirectory.path)
            }
            try await onDisk { () throws(FileError) in try body.append(start) }
            while let piece = try await pieces.next() {
                try await onDisk { () throws(FileError) in try body.append(piece) }
                progress()
            }
            try await onDisk { () throws(FileError) in try body.giveName() }
            return body
        }

        private init(in folder: String) throws(FileError) {
            StaleFiles.remove(from: folder) { $0.hasPrefix(Self.prefix) }
            func newPath() -> String { "\(folder)/\(Self.prefix)\(UUID().uuidString)" }
            if let unnamed = AnonymousFile.make(in: folder, mode: 0o600) {
                // The lock keeps the file from counting as stale while it has a name.
                _ = StaleFiles.claim(unnamed)
                self.path = newPath()
                self.descriptor = unnamed
                self.hasName = Locked(false)
                return
            }
            guard let new = StaleFiles.makeFile(mode: 0o600, named: newPath) else {
                throw FileError(writing: newPath(), in: folder, errno: errno)
            }
            self.path = new.path
            self.descriptor = new.descriptor
            self.hasName = Locked(true)
        }

        deinit {
            removeName()
            BlockingQueue.startUnlessHere { [descriptor] in System.close(descriptor) }
        }

        /// Removes the name of the file. Called when FoundationNetworking has opened it.
        func removeName() {
            let hadName = hasName.withLock { hasName in
                defer { hasName = false }
                return hasName
            }
            // A failure is ignored: the next spooled body removes the stale file.
            if hadName { BlockingQueue.startUnlessHere { [path] in System.unlink(path) } }
        }

        private func giveName() throws(FileError) {
            if hasName.withLock({ $0 }) { return }
            guard AnonymousFile.giveName(path, to: descriptor) else { throw problem() }
            hasName.withLock { $0 = true }
        }

        private func append(_ piece: Data) throws(FileError) {
            let end = size.withLock { size in
                defer { size += piece.count }
                return size
            }
            guard piece.write(to: descriptor, at: Int64(end)) else { throw problem() }
        }

        private func problem() -> FileError {
            FileError(writing: path, in: FileManager.default.temporaryDirectory.path, errno: errno)
        }
    }
#endif
