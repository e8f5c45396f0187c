#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the chunks of a WebP (RFC 9649).
enum WebPHeaders {
    static func describe(_ bytes: ByteView) throws(ImageError) -> ImageDescription {
        var description = ImageDescription(kind: .webP, size: PixelSize(width: 0, height: 0))
        guard let announced = bytes.number(at: 4, bytes: 4, isLittleEndian: true), announced <= bytes.count - 8 else {
            throw .damaged(.webP, reason: "it ends early")
        }
        if announced != bytes.count - 8 { description.hasOtherMetadata = true }
        var offset = 12
        var seen: Set<String> = []
        while let name = bytes.name(at: offset),
            let length = bytes.number(at: offset + 4, bytes: 4, isLittleEndian: true)
        {
            let end = offset + 8 + min(length, bytes.count)
            if end > bytes.count, ["VP8 ", "VP8L"].contains(name) { throw .damaged(.webP, reason: "it ends early") }
            if isSkipped(name, after: seen) || end > bytes.count || name == "VP8X" && length != 10 {
                description.hasOtherMetadata = true
            } else {
                take(name, bytes.part(from: offset + 8, count: length), &description)
            }
            seen.insert(name)
            offset = end + length % 2
        }
        if offset < bytes.count { description.hasOtherMetadata = true }
        guard description.size.width > 0, description.size.height > 0 else {
            throw .damaged(.webP, reason: "it has no size")
        }
        if let frame = description.firstFrame {
            guard frame.fits(in: description.size) else {
                throw .damaged(.webP, reason: "its first frame is larger than the picture")
            }
            if frame.size == description.size { description.firstFrame = nil } else { description.hasAlpha = true }
        }
        description.orientation = description.exif.flatMap(EXIF.orientation) ?? .up
        return description
    }

    /// Whether decoders skip a chunk because of its position, so that it may hide anything.
    private static func isSkipped(_ name: String, after seen: Set<String>) -> Bool {
        let hasPicture = !seen.isDisjoint(with: ["VP8 ", "VP8L", "ANMF"])
        switch name {
        case "VP8 ", "VP8L": return hasPicture
        case "ALPH", "ICCP": return hasPicture || seen.contains(name) || !seen.contains("VP8X")
        default: return false
        }
    }

    private static func take(_ name: String, _ content: ByteView, _ description: inout ImageDescription) {
        switch name {
        case "VP8 ", "VP8L":
            if description.size.width == 0, let frame = frame(name, content) {
                description.size = frame.size
                description.hasAlpha = frame.hasAlpha
            }
        case "VP8X" where description.size.width == 0:
            // This chunk counts only if it is first: libwebp treats a bitstream that comes first as the whole picture.
            guard let flags = content[0], let width = content.number(at: 4, bytes: 3, isLittleEndian: true),
                let height = content.number(at: 7, bytes: 3, isLittleEndian: true)
            else { return }
            description.size = PixelSize(width: width + 1, height: height + 1)
            description.hasAlpha = flags & 0x10 != 0
        case "ALPH": description.hasAlpha = true
        case "ICCP":
            let profile = content.data
            description.profile = profile
            description.isSRGB = ICCProfile.isSRGB(profile)
            if !ICCProfile.isPlain(profile) { description.hasOtherMetadata = true }
        case "ANIM": description.hasOtherMetadata = true
        case "ANMF":
            guard !description.isAnimated, let left = content.number(at: 0, bytes: 3, isLittleEndian: true),
                let top = content.number(at: 3, bytes: 3, isLittleEndian: true),
                let width = content.number(at: 6, bytes: 3, isLittleEndian: true),
                let height = content.number(at: 9, bytes: 3, isLittleEndian: true)
            else { return }
            // Only the first frame is decoded. Its offset is stored in units of two pixels.
            description.isAnimated = true
            description.hasOtherMetadata = true
            description.firstFrame = FrameArea(
                left: left * 2, top: top * 2, size: PixelSize(width: width + 1, height: height + 1))
        case "EXIF" where description.exif == nil:
            // Some encoders prepend the marker of a JPEG segment.
            description.exif = content.part(from: content.has("Exif\0\0") ? 6 : 0).data
        default: description.hasOtherMetadata = true
        }
    }

    /// Reads the size and the alpha flag from the header of a bitstream.
    static func frame(_ name: String, _ content: ByteView) -> (size: PixelSize, hasAlpha: Bool)? {
        if name == "VP8 " {
            guard let width = content.number(at: 6, bytes: 2, isLittleEndian: true),
                let height = content.number(at: 8, bytes: 2, isLittleEndian: true)
            else { return nil }
            return (PixelSize(width: width & 0x3FFF, height: height & 0x3FFF), false)
        }
        guard content[0] == 0x2F, let bits = content.number(at: 1, bytes: 4, isLittleEndian: true) else { return nil }
        return (PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1), bits >> 28 & 1 == 1)
    }

    /// Extracts the first frame of an animation as a separate WebP, without its offset on the canvas.
    static func firstFrame(of file: Data) -> Data? {
        file.withUnsafeBytes { buffer in
            let bytes = ByteView(buffer)
            var offset = 12
            while let name = bytes.name(at: offset),
                let length = bytes.number(at: offset + 4, bytes: 4, isLittleEndian: true)
            {
                if name == "ANMF" { return still(bytes.part(from: offset + 8, count: length)) }
                offset += 8 + min(length, bytes.count) + length % 2
            }
            return nil
        }
    }

    private static func still(_ frame: ByteView) -> Data? {
        let chunks = frame.part(from: 16)
        guard let size = chunks.count > 8 ? frame.part(from: 6, count: 6).data : nil else { return nil }
        var body = Data()
        // Alpha for a lossy bitstream requires a VP8X chunk.
        if chunks.has("ALPH") { body += Data("VP8X".utf8) + Data([10, 0, 0, 0, 0x10, 0, 0, 0]) + size }
        body += chunks.data
        let length = body.count + 4
        let announced = Data([0, 8, 16, 24].map { UInt8(truncatingIfNeeded: length >> $0) })
        return Data("RIFF".utf8) + announced + Data("WEBP".utf8) + body
    }
}
