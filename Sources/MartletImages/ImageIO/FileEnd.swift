#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Whether the bytes of a picture's file reach to its end.
///
/// Image I/O decodes as much as there is of a file that was cut off, leaves the rest of the picture grey, and documents its
/// status as informative above all for sources that are given their data piece by piece. The formats say themselves where
/// they end. Nothing is judged here besides that.
enum FileEnd: Hashable, Sendable {
    case present
    case missing
    /// A format that nothing here knows.
    case unknown

    init(of file: Data) {
        self = file.withUnsafeBytes { FileBytes(bytes: $0).end }
    }
}

private struct FileBytes {
    let bytes: UnsafeRawBufferPointer

    var end: FileEnd {
        if starts([0xFF, 0xD8, 0xFF]) { return jpegEnd }
        if starts([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return pngEnd }
        if starts(Array("RIFF".utf8)), holds(Array("WEBP".utf8), at: 8) { return webPEnd }
        if holds(Array("ftyp".utf8), at: 4) { return boxesEnd }
        return .unknown
    }

    private func holds(_ wanted: [UInt8], at start: Int) -> Bool {
        bytes.count >= start + wanted.count && bytes[start..<start + wanted.count].elementsEqual(wanted)
    }

    private func starts(_ wanted: [UInt8]) -> Bool {
        holds(wanted, at: 0)
    }

    /// A number of so many bytes, the highest first; nothing if the file ends before it does, or is too small to have
    /// that many bytes in it.
    private func number(at start: Int, count: Int) -> Int? {
        guard start <= bytes.count - count else { return nil }
        let number = bytes[start..<start + count].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return number <= bytes.count ? Int(number) : nil
    }

    /// ITU-T T.81, B.1 and B.2: segments with their lengths, coded data in which 0xFF is followed by 0 or a restart
    /// marker, and at last an EOI marker. What follows that one belongs to other pictures.
    private var jpegEnd: FileEnd {
        var next = 2
        while next + 1 < bytes.count {
            guard bytes[next] == 0xFF else {
                next += 1
                continue
            }
            switch bytes[next + 1] {
            case 0xD9: return .present
            case 0xFF: next += 1
            case 0x00, 0x01, 0xD0...0xD8: next += 2
            default:
                guard let length = number(at: next + 2, count: 2) else { return .missing }
                next += 2 + max(length, 2)
            }
        }
        return .missing
    }

    /// PNG, 5.3: chunks with their lengths, a type and a checksum, of which the last is IEND.
    private var pngEnd: FileEnd {
        var next = 8
        while let length = number(at: next, count: 4), length <= bytes.count - next - 12 {
            if holds(Array("IEND".utf8), at: next + 4) { return .present }
            next += 12 + length
        }
        return .missing
    }

    /// RFC 9649, 2.4: the size of all that follows, the lowest byte first.
    private var webPEnd: FileEnd {
        let size = bytes[4..<8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return size <= bytes.count - 8 ? .present : .missing
    }

    /// ISO/IEC 14496-12, 4.2: boxes with their sizes; 1 stands for a size of eight bytes, 0 for all that is left.
    private var boxesEnd: FileEnd {
        var next = 0
        while next + 8 <= bytes.count {
            guard var size = number(at: next, count: 4) else { return .missing }
            if size == 0 { return .present }
            if size == 1 {
                guard let long = number(at: next + 8, count: 8), long >= 16 else { return .missing }
                size = long
            }
            guard size >= 8, size <= bytes.count - next else { return .missing }
            next += size
        }
        return .present
    }
}
