#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads and changes the orientation in EXIF metadata (EXIF 2.32, section 4.6; TIFF 6.0, section 2).
enum EXIF {
    /// The orientation; `nil` if it is missing or invalid.
    static func orientation(of exif: Data) -> Orientation? {
        exif.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            guard let offset = orientationOffset(in: view),
                let value = view.number(
                    at: offset, bytes: 2, isLittleEndian: view.has("II"))
            else { return nil }
            return Orientation(rawValue: value)
        }
    }

    /// Returns the metadata with the orientation set to upright.
    static func upright(_ exif: Data) -> Data {
        var result = exif
        let offset = exif.withUnsafeBytes { orientationOffset(in: ByteView($0)) }
        guard let offset else { return exif }
        let isLittleEndian = exif.first == UInt8(ascii: "I")
        result[result.startIndex + offset] = isLittleEndian ? 1 : 0
        result[result.startIndex + offset + 1] = isLittleEndian ? 0 : 1
        return result
    }

    /// The offset of the orientation's two bytes in the first directory.
    private static func orientationOffset(in bytes: ByteView) -> Int? {
        let isLittleEndian = bytes.has("II")
        guard isLittleEndian || bytes.has("MM") else { return nil }
        let number = { (offset: Int, length: Int) in
            bytes.number(at: offset, bytes: length, isLittleEndian: isLittleEndian)
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else { return nil }
        for entry in 0..<count {
            let offset = directory + 2 + entry * 12
            guard let tag = number(offset, 2) else { return nil }
            // SHORT is the only type that the orientation may have.
            if tag == 0x0112, number(offset + 2, 2) == 3, number(offset + 8, 2) != nil { return offset + 8 }
        }
        return nil
    }
}
