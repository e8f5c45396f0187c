// https://developer.apple.com/documentation/coregraphics/cgimage
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CGImage {
    // https://developer.apple.com/documentation/coregraphics/cgimage/init(width:height:bitspercomponent:bitsperpixel:bytesperrow:space:bitmapinfo:provider:decode:shouldinterpolate:intent:)
    public init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
        bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) { fatalError() }

    public var width: Int { fatalError() }
    public var height: Int { fatalError() }
    public var alphaInfo: CGImageAlphaInfo { fatalError() }
}

// https://developer.apple.com/documentation/coregraphics/cgdataprovider
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CGDataProvider {
    // https://developer.apple.com/documentation/coregraphics/cgdataprovider/init(data:)
    public init?(data: CFData) { fatalError() }
}

// https://developer.apple.com/documentation/coregraphics/cgimagealphainfo
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public enum CGImageAlphaInfo: UInt32, Sendable {
    case none = 0
    case premultipliedLast
    case premultipliedFirst
    case last
    case first
    case noneSkipLast
    case noneSkipFirst
    case alphaOnly
}

// https://developer.apple.com/documentation/coregraphics/cgbitmapinfo
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public struct CGBitmapInfo: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
