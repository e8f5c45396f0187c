/// The codec of this platform and build.
enum PlatformCodec {
    #if canImport(ImageIO)
        static let standard: any ImageCodec = ImageIOCodec()
    #elseif ImageCodecs && os(Linux)
        static let standard: any ImageCodec = LibraryCodec()
    #else
        static let standard: any ImageCodec = MissingCodec()
    #endif
}
