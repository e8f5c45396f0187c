#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Removes the metadata that Image I/O adds to the files that it writes.
///
/// Image I/O adds the picture's size, an sRGB profile of 3 kB, and possibly more on later systems. None of this is
/// needed, because pictures without color information are in sRGB. Without it, the file is smaller, does not depend on
/// the system, and passes through unchanged if it is prepared again.
struct WrittenFile {
    let bytes: Data

    init(_ bytes: Data) {
        self.bytes = Data(bytes)
    }

    /// Returns the file without metadata; `nil` if its structure is invalid.
    func withoutMetadata(_ format: ImageFormat) -> Data? {
        switch format {
        case .jpeg: plainJPEG
        case .png: plainPNG
        case .webP: bytes
        }
    }

    /// Reads a big-endian number.
    private func number(at start: Int, count: Int) -> Int? {
        guard start <= bytes.count - count else { return nil }
        return Int(exactly: bytes[start..<start + count].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    /// ITU-T T.81, B.2: keeps the segments before the first scan that are needed for decoding, and those of JFIF (APP0)
    /// and Adobe (APP14), which contains the color transform.
    private var plainJPEG: Data? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var result = Data([0xFF, 0xD8])
        var next = 2
        while let marker = number(at: next, count: 2), let length = number(at: next + 2, count: 2) {
            let end = next + 2 + length
            switch marker {
            // The first scan, further scans, and the end.
            case 0xFFDA: return result + bytes[next...]
            case 0xFFE1...0xFFED, 0xFFEF, 0xFFFE: break
            case 0xFFC0...0xFFCF, 0xFFDB...0xFFDF, 0xFFE0, 0xFFEE:
                guard end <= bytes.count else { return nil }
                result += bytes[next..<end]
            default: return nil
            }
            next = end
        }
        return nil
    }

    /// PNG, 5.4: keeps critical chunks, whose names start with a capital letter, and the chunks tRNS and sRGB.
    private var plainPNG: Data? {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return nil }
        var result = bytes.prefix(8)
        var next = 8
        while let length = number(at: next, count: 4), length <= bytes.count - next - 12 {
            let end = next + 12 + length
            let type = bytes[next + 4..<next + 8]
            if type.first.map({ $0 & 0x20 == 0 }) == true || type == Data("tRNS".utf8) || type == Data("sRGB".utf8) {
                result += bytes[next..<end]
            }
            if type == Data("IEND".utf8) { return result }
            next = end
        }
        return nil
    }
}
