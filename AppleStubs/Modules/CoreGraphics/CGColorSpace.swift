// https://developer.apple.com/documentation/coregraphics/cgcolorspace
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CGColorSpace {
    // https://developer.apple.com/documentation/coregraphics/cgcolorspace/init(name:)
    public init?(name: CFString) { fatalError() }

    // https://developer.apple.com/documentation/coregraphics/cgcolorspace/srgb
    public class var sRGB: CFString { fatalError() }
}

// https://developer.apple.com/documentation/coregraphics/cgcolorrenderingintent
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public enum CGColorRenderingIntent: Int32, Sendable {
    case defaultIntent = 0
    case absoluteColorimetric
    case relativeColorimetric
    case perceptual
    case saturation
}
