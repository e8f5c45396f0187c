// https://developer.apple.com/documentation/coregraphics/cgcolorspace
public class CGColorSpace {
    // https://developer.apple.com/documentation/coregraphics/cgcolorspace/init(name:)
    public init?(name: CFString) { fatalError() }

    // https://developer.apple.com/documentation/coregraphics/cgcolorspace/srgb
    public class var sRGB: CFString { fatalError() }
}

// https://developer.apple.com/documentation/coregraphics/cgcolorrenderingintent
public enum CGColorRenderingIntent: Int32, Sendable {
    case defaultIntent = 0
    case absoluteColorimetric
    case relativeColorimetric
    case perceptual
    case saturation
}
