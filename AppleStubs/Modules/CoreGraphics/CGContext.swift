// https://developer.apple.com/documentation/coregraphics/cgcontext
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CGContext {
    // https://developer.apple.com/documentation/coregraphics/cgcontext/1455939-init
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: UInt32
    ) { fatalError() }

    // https://developer.apple.com/documentation/coregraphics/cgcontext/init(data:width:height:bitspercomponent:bytesperrow:space:bitmapinfo:)-10b3i
    // SDKs have declared this name only recently: a call of our own function must not be ambiguous, nor resolve to it.
    @available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace?, bitmapInfo: CGBitmapInfo
    ) { fatalError() }

    // https://developer.apple.com/documentation/coregraphics/cgcontext/data
    public var data: UnsafeMutableRawPointer? { fatalError() }

    // https://developer.apple.com/documentation/coregraphics/cgcontext/interpolationquality
    public var interpolationQuality: CGInterpolationQuality {
        get { fatalError() }
        set { fatalError() }
    }

    // https://developer.apple.com/documentation/coregraphics/cgcontext/setblendmode(_:)
    public func setBlendMode(_ mode: CGBlendMode) { fatalError() }

    // https://developer.apple.com/documentation/coregraphics/cgcontext/draw(_:in:bytiling:)
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) { fatalError() }
}

// https://developer.apple.com/documentation/coregraphics/cginterpolationquality
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public enum CGInterpolationQuality: Int32, Sendable {
    case `default` = 0
    case none = 1
    case low = 2
    case medium = 4
    case high = 3
}

// https://developer.apple.com/documentation/coregraphics/cgblendmode
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public enum CGBlendMode: Int32, Sendable {
    case normal = 0
    case multiply = 1
    case screen = 2
    case overlay = 3
    case darken = 4
    case lighten = 5
    case colorDodge = 6
    case colorBurn = 7
    case softLight = 8
    case hardLight = 9
    case difference = 10
    case exclusion = 11
    case hue = 12
    case saturation = 13
    case color = 14
    case luminosity = 15
    case clear = 16
    case copy = 17
    case sourceIn = 18
    case sourceOut = 19
    case sourceAtop = 20
    case destinationOver = 21
    case destinationIn = 22
    case destinationOut = 23
    case destinationAtop = 24
    case xor = 25
    case plusDarker = 26
    case plusLighter = 27
}
