// Code that ImageIO and Core Graphics reject.

internal import CoreGraphics
internal import Foundation
internal import ImageIO

func withoutBridging(_ bytes: Data, _ file: URL) {
    _ = CGImageSourceCreateWithData(bytes, nil)  // mistake: cannot convert value of type 'Data' to expected argument type 'CFData'
    _ = CGImageSourceCreateWithURL(file, nil)  // mistake: cannot convert value of type 'URL' to expected argument type 'CFURL'
    _ = CGImageSourceCreateWithData(bytes as CFData, nil)
    _ = CGImageSourceCreateWithURL(file as CFURL, nil)
}

func forgetsThatItCanFail(_ source: CGImageSource) -> Int {
    CGImageSourceCreateThumbnailAtIndex(source, 0, nil).width  // mistake: must be unwrapped
}

func wrongStatus(_ source: CGImageSource) -> Bool {
    CGImageSourceGetStatus(source) == .complete  // mistake: has no member 'complete'
}

func writesToImmutable(_ bytes: CFData, _ type: String) {
    _ = CGImageDestinationCreateWithData(bytes, type as CFString, 1, nil)  // mistake: cannot convert value of type 'CFData'
}

func reads(_ bytes: CFMutableData) -> Data {
    bytes as Data
}

func draws(_ image: CGImage, _ space: CGColorSpace, _ memory: UnsafeMutableRawPointer) {
    let alpha = CGImageAlphaInfo.premultipliedLast
    let wrong = CGContext(
        data: memory, width: 1, height: 1, bitsPerComponent: 8, bytesPerRow: 4, space: space,
        bitmapInfo: alpha)  // mistake: cannot convert value of type 'CGImageAlphaInfo' to expected argument type
    wrong?.draw(image, in: CGRect(x: 0, y: 0, width: 1, height: 1))
    let right = CGContext(
        data: memory, width: 1, height: 1, bitsPerComponent: 8, bytesPerRow: 4, space: space,
        bitmapInfo: alpha.rawValue)
    right?.draw(image, in: CGRect(x: 0, y: 0, width: 1, height: 1))
}

func forgetsThatThereMayBeNoBitmap(_ image: CGImage, _ raw: UInt32) {
    let orientation = CGImagePropertyOrientation(rawValue: raw)
    _ = turned(image, orientation)  // mistake: must be unwrapped
    _ = turned(image, .up)
}

private func turned(_ image: CGImage, _ orientation: CGImagePropertyOrientation) -> CGImage { image }

func confusesNumbers(_ sides: [CGFloat]) -> [Double] {
    sides  // mistake: cannot convert return expression of type '[CGFloat]'
}
