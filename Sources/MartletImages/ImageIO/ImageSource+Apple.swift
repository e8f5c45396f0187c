#if canImport(ImageIO)
    public import CoreGraphics
    internal import Foundation
    public import ImageIO
    #if canImport(UIKit)
        public import UIKit
    #endif

    extension ImageSource {
        /// A picture in memory.
        /// - Parameters:
        ///   - image: The picture.
        ///   - orientation: The orientation, which says how to turn the picture upright.
        public init(_ image: CGImage, orientation: CGImagePropertyOrientation = .up) {
            self.init(image, Orientation(rawValue: Int(orientation.rawValue)) ?? .up)
        }

        private init(_ image: CGImage, _ orientation: Orientation) {
            let drawable = Drawable(image: image)
            let size = PixelSize(width: image.width, height: image.height)
            self = .decoded(
                DecodedImage(size, orientation) { size in
                    autoreleasepool { DrawnImage(drawing: drawable.image, in: size) }
                })
        }
    }

    /// Passes an image to the processor's threads.
    private struct Drawable: @unchecked Sendable {
        // A CGImage is immutable, and Core Graphics may draw it on any thread:
        // https://developer.apple.com/documentation/coregraphics/cgimage
        let image: CGImage
    }

    #if canImport(UIKit)
        extension ImageSource {
            /// A picture in memory, turned upright by its `imageOrientation`. Its size is counted in pixels, so an
            /// image that is 100 points wide at scale 3 is 300 pixels wide.
            /// - Returns: `nil` if the image has no `cgImage`, for example because Core Image would have to render it.
            public init?(_ image: UIImage) {
                guard let pixels = image.cgImage else { return nil }
                self.init(pixels, Orientation(image.imageOrientation))
            }
        }

        extension Orientation {
            /// UIKit and Image I/O number orientations differently:
            /// https://developer.apple.com/documentation/imageio/cgimagepropertyorientation
            fileprivate init(_ orientation: UIImage.Orientation) {
                self =
                    switch orientation {
                    case .up: .up
                    case .down: .down
                    case .left: .left
                    case .right: .right
                    case .upMirrored: .upMirrored
                    case .downMirrored: .downMirrored
                    case .leftMirrored: .leftMirrored
                    case .rightMirrored: .rightMirrored
                    @unknown default: .up
                    }
            }
        }
    #endif
#endif
