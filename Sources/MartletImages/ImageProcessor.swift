internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Prepares pictures for upload: scales them down, turns them upright, converts them to sRGB and removes private
/// metadata.
///
/// ```swift
/// let image = try await ImageProcessor().prepare(.file(at: path))
/// var form = MultipartForm()
/// form.append(image, named: "image")
/// ```
///
/// A picture passes through unchanged if it fits the bounds and the byte limit, has the right format, is upright, is in
/// sRGB and has no metadata. Any other picture is decoded no larger than needed, turned upright, converted to sRGB and
/// encoded with the best quality that fits the byte limit. The same picture, options and codec versions always give the
/// same bytes.
///
/// The processor works on its own threads, on two pictures at a time, to limit the use of memory.
public struct ImageProcessor: Sendable {
    /// The properties of the prepared picture, and limits for the source.
    public struct Options: Sendable, Hashable {
        /// The maximum size of the upright picture. Smaller pictures are not enlarged.
        public var bounds = PixelSize(width: 1024, height: 1024)
        /// The maximum size of the result in bytes. If the lowest quality is still too large, the picture becomes
        /// smaller than ``bounds``.
        public var maximumBytes = 5_000_000
        /// The file format of the result.
        public var format = ImageFormat.jpeg
        /// The range of qualities, from 0.01 to 1. The processor uses the best one that fits ``maximumBytes``, in steps
        /// of 0.01. ``ImageFormat/png`` ignores it.
        public var quality: ClosedRange<Double> = 0.1...0.8
        /// The background for transparent pixels if ``format`` has no transparency.
        public var background = Color.white
        /// Whether to keep EXIF metadata, which say where and when the picture was taken. Their orientation is set to
        /// upright.
        ///
        /// All other metadata are always removed. A JPEG cannot hold more than 65,527 bytes of EXIF; larger metadata
        /// are removed from it.
        public var keepsMetadata = false
        /// The maximum number of pixels that a header may declare, as a protection against small files that decode to
        /// gigabytes. A file with more pixels than its header declares counts as damaged. Width and height are always
        /// limited to 1,000,000.
        public var maximumPixels = 120_000_000
        /// The maximum size of the source file in bytes.
        public var maximumInputBytes = 200_000_000
        /// Whether a picture that already meets all options passes through unchanged.
        public var passesThrough = true

        /// Creates the default options: 1024 x 1024 pixels, 5 MB, JPEG, quality 0.8 down to 0.1, no metadata.
        public init() {}
    }

    /// A color in sRGB.
    public struct Color: Sendable, Hashable {
        /// The red component, from 0 to 255.
        public var red: UInt8
        /// The green component, from 0 to 255.
        public var green: UInt8
        /// The blue component, from 0 to 255.
        public var blue: UInt8

        /// Creates a color from its components, 0 to 255 each.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// White.
        public static let white = Color(red: 255, green: 255, blue: 255)
        /// Black.
        public static let black = Color(red: 0, green: 0, blue: 0)
    }

    /// The options.
    public let options: Options
    private let codec: any ImageCodec

    /// Creates a processor.
    public init(_ options: Options = Options()) {
        self.init(options, codec: PlatformCodec.standard)
    }

    init(_ options: Options, codec: any ImageCodec) {
        self.options = options
        self.codec = codec
    }

    /// Prepares a picture for upload.
    /// - Parameter source: A file, its bytes, or a picture in memory.
    /// - Throws: ``ImageError``. If the task is cancelled, ``ImageError/cancelled`` after the codec's current step.
    public func prepare(_ source: ImageSource) async throws(ImageError) -> PreparedImage {
        try await ImageQueue.shared.run { [options, codec] cancellation throws(ImageError) in
            try Preparation(options: options, codec: codec, cancellation: cancellation).run(source)
        }
    }
}
