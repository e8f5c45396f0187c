internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension FileError {
    /// The error for a file that could not be created, written or moved.
    package init(writing path: String, in folder: String, errno number: Int32) {
        switch number {
        case ENOENT: self.init(.missingFolder, path: folder)
        case ENOTDIR: self.init(.notFolder, path: folder)
        case EISDIR: self.init(.directory, path: path)
        case EEXIST, ENOTEMPTY: self.init(.exists, path: path)
        case ENOSPC, EDQUOT, EFBIG: self.init(.noSpace, path: path)
        case ENOTSUP, EOPNOTSUPP: self.init(.unsupported, path: path)
        case EACCES, EPERM: self.init(.forbidden, path: folder)
        default: self.init(.unwritable(errno: number), path: path)
        }
    }
}

extension Data {
    /// Writes all bytes to an open file, at a position. Blocks.
    /// - Returns: Whether that succeeded. If not, `errno` says why.
    package func write(to descriptor: Int32, at position: Int64) -> Bool {
        withUnsafeBytes { bytes in
            var count = 0
            while count < bytes.count {
                let put = System.pwrite(
                    descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count,
                    off_t(position) + off_t(count))
                if put < 0, errno == EINTR { continue }
                guard put > 0 else { return false }
                count += put
            }
            return true
        }
    }
}
