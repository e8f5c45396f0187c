#if canImport(ImageIO)
    internal import CoreGraphics
    internal import Foundation
    internal import ImageIO

    extension ImageIOCodec {
        /// Creates a codec that uses the system's Image I/O.
        init() {
            self.init(calls: .system)
        }
    }

    extension ImageIOCalls {
        fileprivate static let system = ImageIOCalls(
            open: { bytes in
                // The decoded image is used only once.
                let options: [String: Any] = [kCGImageSourceShouldCache as String: false]
                return CGImageSourceCreateWithData(bytes as CFData, options as CFDictionary)
                    .map(ImageIOSource.init(source:))
            },
            writableTypes: {
                let types: CFTypeRef = CGImageDestinationCopyTypeIdentifiers()
                return types as? [String] ?? []
            },
            write: { bitmap, type, quality in
                // The search for the best quality writes many files in a row.
                autoreleasepool {
                    guard let image = CGImage.make(bitmap), let data = CFDataCreateMutable(nil, 0),
                        let destination = CGImageDestinationCreateWithData(data, type as CFString, 1, nil)
                    else { return nil }
                    var properties: [String: Any] = [:]
                    properties[kCGImageDestinationLossyCompressionQuality as String] = quality
                    CGImageDestinationAddImage(destination, image, properties as CFDictionary)
                    return CGImageDestinationFinalize(destination) ? data as Data : nil
                }
            })
    }

    extension ImageIOSource {
        fileprivate init(source: CGImageSource) {
            self.init(
                count: { CGImageSourceGetCount(source) },
                primaryIndex: { CGImageSourceGetPrimaryImageIndex(source) },
                status: { ImageIOStatus(CGImageSourceGetStatus(source)) },
                imageStatus: { ImageIOStatus(CGImageSourceGetStatusAtIndex(source, $0)) },
                properties: { index in
                    let found: CFTypeRef? = CGImageSourceCopyPropertiesAtIndex(source, index, nil)
                    return (found as? [String: Any]).flatMap(ImageIOProperties.init(found:))
                },
                draw: { index, longestSide in
                    autoreleasepool {
                        let options: [String: Any] = [
                            kCGImageSourceCreateThumbnailFromImageAlways as String: true,
                            kCGImageSourceCreateThumbnailWithTransform as String: false,
                            kCGImageSourceThumbnailMaxPixelSize as String: longestSide,
                            kCGImageSourceShouldCacheImmediately as String: true,
                        ]
                        return CGImageSourceCreateThumbnailAtIndex(source, index, options as CFDictionary)
                            .flatMap { DrawnImage(drawing: $0) }
                    }
                })
        }
    }

    extension ImageIOStatus {
        fileprivate init(_ status: CGImageSourceStatus) {
            self =
                switch status {
                case .statusComplete: .complete
                case .statusIncomplete: .incomplete
                case .statusReadingHeader: .readingHeader
                case .statusUnknownType: .unknownType
                case .statusInvalidData: .invalidData
                case .statusUnexpectedEOF: .unexpectedEnd
                @unknown default: .other(status.rawValue)
                }
        }
    }

    extension ImageIOProperties {
        fileprivate init?(found: [String: Any]) {
            guard let width = found[kCGImagePropertyPixelWidth as String] as? Int,
                let height = found[kCGImagePropertyPixelHeight as String] as? Int
            else { return nil }
            self.init(
                size: PixelSize(width: width, height: height),
                orientation: found[kCGImagePropertyOrientation as String] as? Int,
                hasAlpha: found[kCGImagePropertyHasAlpha as String] as? Bool ?? false,
                profileName: found[kCGImagePropertyProfileName as String] as? String)
        }
    }

    extension DrawnImage {
        /// Draws an image in this size or its own, which converts it to sRGB with eight bits per channel.
        init?(drawing image: CGImage, in size: PixelSize? = nil) {
            let ownSize = PixelSize(width: image.width, height: image.height)
            let size = size ?? ownSize
            guard let sRGB = CGColorSpace(name: CGColorSpace.sRGB), size.count <= Int.max / 4 else { return nil }
            self.init(size: size, pixels: [UInt8](repeating: 0, count: size.count * 4))
            let isDrawn = pixels.withUnsafeMutableBytes { pixels in
                // Core Graphics has no bitmap context without premultiplied alpha.
                guard
                    let context = CGContext(
                        data: pixels.baseAddress, width: size.width, height: size.height, bitsPerComponent: 8,
                        bytesPerRow: size.width * 4, space: sRGB,
                        bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
                else { return false }
                context.setBlendMode(.copy)
                context.interpolationQuality = size == ownSize ? .none : .high
                context.draw(image, in: CGRect(x: 0, y: 0, width: size.width, height: size.height))
                return true
            }
            guard isDrawn else { return nil }
        }
    }

    extension CGImage {
        /// Makes an image from a bitmap. Unlike a bitmap context, a `CGImage` supports alpha that is not premultiplied.
        fileprivate static func make(_ bitmap: Bitmap) -> CGImage? {
            guard let sRGB = CGColorSpace(name: CGColorSpace.sRGB),
                let provider = CGDataProvider(data: Data(bitmap.pixels) as CFData)
            else { return nil }
            let (width, height, channels) = (bitmap.size.width, bitmap.size.height, bitmap.layout.channels)
            let alpha = bitmap.layout.hasAlpha ? CGImageAlphaInfo.last : .none
            return CGImage(
                width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 8 * channels,
                bytesPerRow: width * channels, space: sRGB, bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue),
                provider: provider, decode: nil, shouldInterpolate: false, intent: .defaultIntent)
        }
    }
#endif
