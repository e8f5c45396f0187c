internal import CMartletImages

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the segments of a JPEG (ISO/IEC 10918-1, annex B).
struct JPEGHeaders {
    private let bytes: ByteView
    private var description = ImageDescription(kind: .jpeg, size: PixelSize(width: 0, height: 0))
    private var hasFrame = false
    /// Whether the picture is gray or has three channels, so that it can be sRGB. CMYK has four.
    private var canBeSRGB = true
    /// The parts of the ICC profile by number (ICC.1, annex B.4), and the count that each of them has declared.
    private var profile: [Int: Data] = [:]
    private var profileCounts: Set<Int> = []

    private init(_ bytes: ByteView) {
        self.bytes = bytes
    }

    static func describe(_ bytes: ByteView) throws(ImageError) -> ImageDescription {
        var headers = JPEGHeaders(bytes)
        let end = headers.walk()
        guard headers.hasFrame else { throw .damaged(.jpeg, reason: "it has no size") }
        // Data after the end is not part of the picture: the video of a motion photo, a depth map, padding.
        if end != bytes.count { headers.description.hasOtherMetadata = true }
        headers.finish()
        return headers.description
    }

    /// Reads all segments.
    /// - Returns: The offset of the picture's end; `nil` if it has no end marker.
    private mutating func walk() -> Int? {
        var offset = 2
        while let byte = bytes[offset] {
            guard byte == 0xFF, let marker = bytes[offset + 1] else { return nil }
            switch marker {
            case 0xFF:
                // A fill byte.
                offset += 1
                continue
            case 0xD9: return offset + 2
            case 0x00, 0x01, 0xD0...0xD8:
                // Markers without a length, so they cannot contain metadata. Apart from restart markers they are not
                // expected here, so the file may contain other data.
                if !(0xD0...0xD7).contains(marker) { description.hasOtherMetadata = true }
                offset += 2
                continue
            default: break
            }
            guard let length = bytes.number(at: offset + 2, bytes: 2), length >= 2 else { return nil }
            take(marker, bytes.part(from: offset + 4, count: length - 2))
            offset += 2 + length
            if marker == 0xDA { offset = endOfScan(offset) }
        }
        return nil
    }

    /// The offset of the next marker after entropy-coded data.
    private func endOfScan(_ start: Int) -> Int {
        var offset = start
        guard let first = bytes.start else { return start }
        while offset < bytes.count {
            offset = martlet_find(first, offset, bytes.count, 0xFF)
            guard let next = bytes[offset + 1] else { return bytes.count }
            // A stuffed byte, or a restart marker within the data.
            guard next == 0 || (0xD0...0xD7).contains(next) else { return offset }
            offset += 2
        }
        return bytes.count
    }

    private mutating func take(_ marker: UInt8, _ content: ByteView) {
        switch marker {
        case 0xC0...0xC2: takeFrame(content, isCommon: content[0] == 8)
        // Lossless, hierarchical or arithmetic coding: few decoders read these, so the picture must not pass through
        // unchanged.
        case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: takeFrame(content, isCommon: false)
        case 0xC4, 0xDA, 0xDB, 0xDD: if !Self.isWhole(marker, content) { description.hasOtherMetadata = true }
        case 0xE0 where content.has("JFIF\0"):
            // The segment is longer if it contains a thumbnail.
            if content.count != 14 { description.hasOtherMetadata = true }
        case 0xE1 where content.has("Exif\0") && description.exif == nil: description.exif = content.part(from: 6).data
        case 0xE2 where content.has("ICC_PROFILE\0"):
            takeProfile(content)
        case 0xEE where content.has("Adobe") && content.count == 12: break
        // Decoders skip unknown segments, so they can contain anything.
        default: description.hasOtherMetadata = true
        }
    }

    /// Whether the segment contains only its tables, scan header or restart interval.
    private static func isWhole(_ marker: UInt8, _ content: ByteView) -> Bool {
        switch marker {
        case 0xDA: return content[0].map { content.count == 4 + 2 * Int($0) } ?? false
        case 0xDD: return content.count == 2
        default:
            var offset = 0
            while let first = content[offset] {
                if marker == 0xDB {
                    // A quantization table: 64 values of 8 or 16 bits.
                    offset += first >> 4 == 0 ? 65 : 129
                } else {
                    // A Huffman table: the number of codes for each of 16 lengths, and one byte per code.
                    offset += 17 + (1...16).reduce(0) { $0 + Int(content[offset + $1] ?? 0) }
                }
            }
            return offset == content.count
        }
    }

    /// Takes a part of the profile. Decoders may skip one that has no place in the sequence, so it can contain anything.
    private mutating func takeProfile(_ content: ByteView) {
        guard let number = content[12], let count = content[13], number > 0, number <= count,
            profile[Int(number)] == nil
        else {
            description.hasOtherMetadata = true
            return
        }
        profile[Int(number)] = content.part(from: 14).data
        profileCounts.insert(Int(count))
    }

    private mutating func takeFrame(_ content: ByteView, isCommon: Bool) {
        guard !hasFrame, let height = content.number(at: 1, bytes: 2), let width = content.number(at: 3, bytes: 2),
            let channels = content[5], width > 0, height > 0
        else {
            description.hasOtherMetadata = true
            return
        }
        hasFrame = true
        if !isCommon || content.count != 6 + 3 * Int(channels) { description.hasOtherMetadata = true }
        description.size = PixelSize(width: width, height: height)
        canBeSRGB = channels == 1 || channels == 3
    }

    private mutating func finish() {
        if !profile.isEmpty {
            let whole = profile.sorted { $0.key < $1.key }.reduce(into: Data()) { $0 += $1.value }
            description.profile = whole
            description.isSRGB = ICCProfile.isSRGB(whole)
            if profileCounts != [profile.count] || !ICCProfile.isPlain(whole) { description.hasOtherMetadata = true }
        }
        if !canBeSRGB { description.isSRGB = false }
        description.orientation = description.exif.flatMap(EXIF.orientation) ?? .up
    }
}
