internal import CMartletImages

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The segments of a JPEG (ISO/IEC 10918-1, annex B).
struct JPEGHeaders {
    private let bytes: ByteView
    private var description = ImageDescription(kind: .jpeg, size: PixelSize(width: 0, height: 0))
    private var hasFrame = false
    private var isColoured = true
    /// Pieces of the ICC profile by their number (ICC.1, annex B.4).
    private var profile: [Int: Data] = [:]

    private init(_ bytes: ByteView) {
        self.bytes = bytes
    }

    static func describe(_ bytes: ByteView) throws(ImageError) -> ImageDescription {
        var headers = JPEGHeaders(bytes)
        let end = headers.walk()
        guard headers.hasFrame else { throw .damaged(.jpeg, reason: "it has no size") }
        // What follows the end is no part of the picture: the clip of a moving photo, a depth map, padding.
        if end != bytes.count { headers.description.hasOtherMetadata = true }
        headers.finish()
        return headers.description
    }

    /// Goes through all segments.
    /// - Returns: Where the picture ends; `nil` where it does not.
    private mutating func walk() -> Int? {
        var place = 2
        while let byte = bytes[place] {
            guard byte == 0xFF, let marker = bytes[place + 1] else { return nil }
            switch marker {
            case 0xFF:
                // A fill byte.
                place += 1
                continue
            case 0xD9: return place + 2
            case 0x00, 0x01, 0xD0...0xD8:
                // No segments, so that nothing can hide behind a length. 0 is no marker at all.
                if !(0xD0...0xD7).contains(marker) { description.hasOtherMetadata = true }
                place += 2
                continue
            default: break
            }
            guard let length = bytes.number(at: place + 2, bytes: 2), length >= 2 else { return nil }
            take(marker, bytes.part(from: place + 4, count: length - 2))
            place += 2 + length
            if marker == 0xDA { place = endOfScan(place) }
        }
        return nil
    }

    /// Where the next marker after entropy-coded bytes is.
    private func endOfScan(_ start: Int) -> Int {
        var place = start
        guard let first = bytes.start else { return start }
        while place < bytes.count {
            place = martlet_find(first, place, bytes.count, 0xFF)
            guard let next = bytes[place + 1] else { return bytes.count }
            // A stuffed byte, or a restart in the middle of it.
            guard next == 0 || (0xD0...0xD7).contains(next) else { return place }
            place += 2
        }
        return bytes.count
    }

    private mutating func take(_ marker: UInt8, _ content: ByteView) {
        switch marker {
        case 0xC0...0xC2: takeFrame(content, isCommon: content[0] == 8)
        // Without loss, in steps, or with arithmetic coding: what few decoders read must not go out as it is.
        case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: takeFrame(content, isCommon: false)
        case 0xC4, 0xDA, 0xDB, 0xDD: if !Self.isWhole(marker, content) { description.hasOtherMetadata = true }
        case 0xE0 where content.has("JFIF\0"):
            // Longer where it has a preview.
            if content.count != 14 { description.hasOtherMetadata = true }
        case 0xE1 where content.has("Exif\0") && description.exif == nil: description.exif = content.part(from: 6).data
        case 0xE2 where content.has("ICC_PROFILE\0"):
            if let number = content[12] { profile[Int(number)] = content.part(from: 14).data }
        case 0xEE where content.has("Adobe") && content.count == 12: break
        // Decoders skip what they do not know: anything can be in it.
        default: description.hasOtherMetadata = true
        }
    }

    /// Whether tables, a scan's header, or the distance of restarts are all that the segment holds.
    private static func isWhole(_ marker: UInt8, _ content: ByteView) -> Bool {
        switch marker {
        case 0xDA: return content[0].map { content.count == 4 + 2 * Int($0) } ?? false
        case 0xDD: return content.count == 2
        default:
            var place = 0
            while let first = content[place] {
                if marker == 0xDB {
                    // 64 values of 8 or 16 bits.
                    place += first >> 4 == 0 ? 65 : 129
                } else {
                    // How many codes there are of each of 16 lengths, and a byte for each.
                    place += 17 + (1...16).reduce(0) { $0 + Int(content[place + $1] ?? 0) }
                }
            }
            return place == content.count
        }
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
        isColoured = channels == 1 || channels == 3
    }

    private mutating func finish() {
        if !profile.isEmpty {
            let whole = profile.sorted { $0.key < $1.key }.reduce(into: Data()) { $0 += $1.value }
            description.profile = whole
            description.isSRGB = ICCProfile.isSRGB(whole)
        }
        if !isColoured { description.isSRGB = false }
        description.orientation = description.exif.flatMap(EXIF.orientation) ?? .up
    }
}
