internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes pictures ready to be uploaded: small enough, upright, in sRGB, and without what they tell about their owner.
///
/// ```swift
/// let image = try await ImageProcessor().prepare(.file(at: path))
/// var form = MultipartForm()
/// form.append(image, named: "image")
/// ```
///
/// A picture that fits the bounds and the byte limit, is of the right format, upright, in sRGB and without metadata is passed
/// through untouched. Any other is decoded no larger than needed, turned upright, converted to sRGB and encoded with the best
/// quality that keeps to the byte limit. The same picture with the same options gives the same bytes, as long as the codecs
/// are the same.
///
/// The work is done on threads of its own, for two pictures at a time: more would take memory rather than save time.
public struct ImageProcessor: Sendable {
    /// What a picture is to become.
    public struct Options: Sendable, Hashable {
        /// What the picture must fit into, in pixels once it is upright. Smaller pictures are not enlarged.
        public var bounds = PixelSize(width: 1024, height: 1024)
        /// How many bytes the result may have. Where the lowest quality is not enough, the picture becomes smaller than
        /// ``bounds``.
        public var maximumBytes = 5_000_000
        /// What the picture is sent as.
        public var format = ImageFormat.jpeg
        /// The qualities to choose from, from 0.01 to 1: the best that keeps to ``maximumBytes`` is taken, in steps of 0.01. Of
        /// no meaning for ``ImageFormat/png``.
        public var quality: ClosedRange<Double> = 0.1...0.8
        /// What shows through where the picture is transparent and ``format`` cannot be.
        public var background = Color.white
        /// Whether EXIF metadata stay, with the orientation set to upright. They say where and when the picture was taken.
        /// Any other metadata go in any case, and so do EXIF of more than 65,527 bytes where ``format`` is
        /// ``ImageFormat/jpeg``, which has no room for them.
        public var keepsMetadata = false
        /// How many pixels a picture may have by what its header says, against small files that unpack to gigabytes. A file
        /// that has more of them than its header says is damaged. No side may have more than 1,000,000, whatever is set here.
        public var maximumPixels = 120_000_000
        /// How many bytes a picture's file may have.
        public var maximumInputBytes = 200_000_000
        /// Whether a picture that is fine as it is stays untouched.
        public var passesThrough = true

        /// 1024 x 1024 pixels, 5 MB, JPEG, quality 0.8 down to 0.1, no metadata.
        public init() {}
    }

    /// A colour in sRGB.
    public struct Color: Sendable, Hashable {
        /// The share of red, 0 to 255.
        public var red: UInt8
        /// The share of green, 0 to 255.
        public var green: UInt8
        /// The share of blue, 0 to 255.
        public var blue: UInt8

        /// A colour by its shares, 0 to 255 each.
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

    /// What pictures become.
    public let options: Options
    private let codec: any ImageCodec

    /// Prepares pictures with these options.
    public init(_ options: Options = Options()) {
        self.init(options, codec: PlatformCodec.standard)
    }

    init(_ options: Options, codec: any ImageCodec) {
        self.options = options
        self.codec = codec
    }

    /// Prepares a picture.
    /// - Parameter source: A file or its bytes.
    /// - Returns: The picture as it is to be sent.
    /// - Throws: ``ImageError``; ``ImageError/cancelled`` soon after the task was cancelled.
    public func prepare(_ source: ImageSource) async throws(ImageError) -> PreparedImage {
        try await ImageQueue.shared.run { [options, codec] cancellation throws(ImageError) in
            try Preparation(options: options, codec: codec, cancellation: cancellation).run(source)
        }
    }
}
