#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The codec of a build without codecs. Pictures that need no change still pass through.
struct MissingCodec: ImageCodec {
    private static let advice =
        "This build of Martlet has no image codecs. Enable the trait in your Package.swift: "
        + ".package(…, traits: [.defaults, \"ImageCodecs\"])."

    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription {
        throw .unsupported(kind, advice: Self.advice)
    }

    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap {
        throw .unsupported(description.kind, advice: Self.advice)
    }

    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data {
        throw .failed(reason: Self.advice)
    }
}
