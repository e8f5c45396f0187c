#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The TIFF structure within EXIF metadata (EXIF 2.32, section 4.6; TIFF 6.0, section 2).
enum EXIF {
    /// How the picture is to be turned; `nil` where nothing valid says so.
    static func orientation(of exif: Data) -> Orientation? {
        exif.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            guard let place = orientationPlace(in: view),
                let value = view.number(
                    at: place, bytes: 2, isLittleEndian: view.has("II"))
            else { return nil }
            return Orientation(rawValue: value)
        }
    }

    /// The metadata of a picture that was turned upright.
    static func upright(_ exif: Data) -> Data {
        var result = exif
        let place = exif.withUnsafeBytes { orientationPlace(in: ByteView($0)) }
        guard let place else { return exif }
        let isLittleEndian = exif.first == UInt8(ascii: "I")
        result[result.startIndex + place] = isLittleEndian ? 1 : 0
        result[result.startIndex + place + 1] = isLittleEndian ? 0 : 1
        return result
    }

    /// Where the two bytes of the orientation are, in the first directory.
    private static func orientationPlace(in bytes: ByteView) -> Int? {
        let isLittleEndian = bytes.has("II")
        guard isLittleEndian || bytes.has("MM") else { return nil }
        let number = { (place: Int, length: Int) in
            bytes.number(at: place, bytes: length, isLittleEndian: isLittleEndian)
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else { return nil }
        for entry in 0..<count {
            let place = directory + 2 + entry * 12
            guard let tag = number(place, 2) else { return nil }
            // A short, the only type it may have.
            if tag == 0x0112, number(place + 2, 2) == 3, number(place + 8, 2) != nil { return place + 8 }
        }
        return nil
    }
}
