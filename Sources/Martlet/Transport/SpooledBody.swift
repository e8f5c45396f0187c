#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Android)
        internal import Android
    #endif

    /// A body on the disk, for FoundationNetworking, which takes a large one only as a file with a name.
    ///
    /// Not as `/proc/self/fd/N`: its length would be that of the link. So the file has no name while it is written, gets
    /// one when it is whole, and loses it when FoundationNetworking has opened it. Where the file system has no unnamed
    /// files it has its name from the start. Only this user can read it, and the next one that is made clears away what a
    /// killed process has left.
    final class SpooledBody: Sendable {
        private static let prefix = "martlet-upload-"

        let path: String
        private let descriptor: Int32
        private let hasName: Locked<Bool>
        private let size = Locked(0)

        /// How many bytes it has.
        var count: Int { size.withLock { $0 } }

        /// Reads all of a body.
        /// - Parameters:
        ///   - start: What has been read of it already.
        ///   - pieces: The rest.
        ///   - progress: Called after each piece.
        static func make(
            _ start: Data, then pieces: consuming OutgoingPieces, progress: () -> Void
        ) async throws -> SpooledBody {
            let folder = FileManager.default.temporaryDirectory.path
            let body = try await onDisk { () throws(FileProblem) in try SpooledBody(in: folder) }
            try await onDisk { () throws(FileProblem) in try body.append(start) }
            while let piece = try await pieces.next() {
                try await onDisk { () throws(FileProblem) in try body.append(piece) }
                progress()
            }
            try await onDisk { () throws(FileProblem) in try body.giveName() }
            return body
        }

        private init(in folder: String) throws(FileProblem) {
            Leftovers.remove(from: folder) { $0.hasPrefix(Self.prefix) }
            func newPath() -> String { "\(folder)/\(Self.prefix)\(UUID().uuidString)" }
            if let unnamed = UnnamedFile.make(in: folder, mode: 0o600) {
                // For the time in which it has a name.
                _ = Leftovers.claim(unnamed)
                self.path = newPath()
                self.descriptor = unnamed
                self.hasName = Locked(false)
                return
            }
            guard let new = Leftovers.makeFile(mode: 0o600, named: newPath) else {
                throw FileProblem(writing: newPath(), in: folder, errno: errno)
            }
            self.path = new.path
            self.descriptor = new.descriptor
            self.hasName = Locked(true)
        }

        deinit {
            removeName()
            close(descriptor)
        }

        /// Whoever has opened it needs its name no more.
        func removeName() {
            hasName.withLock { hasName in
                // If it cannot be removed, nobody is left who could do better.
                if hasName { unlink(path) }
                hasName = false
            }
        }

        private func giveName() throws(FileProblem) {
            let isNamed = hasName.withLock { hasName in
                hasName = hasName || UnnamedFile.giveName(path, to: descriptor)
                return hasName
            }
            guard isNamed else { throw problem() }
        }

        private func append(_ piece: Data) throws(FileProblem) {
            let end = size.withLock { size in
                defer { size += piece.count }
                return size
            }
            guard piece.write(to: descriptor, at: Int64(end)) else { throw problem() }
        }

        private func problem() -> FileProblem {
            FileProblem(writing: path, in: FileManager.default.temporaryDirectory.path, errno: errno)
        }

        private static func onDisk<Result: Sendable>(
            _ work: @escaping @Sendable () throws(FileProblem) -> Result
        ) async throws -> Result {
            do {
                return try await FileQueue.run(work)
            } catch {
                throw TransportError.bodyFailed(error)
            }
        }
    }
#endif
