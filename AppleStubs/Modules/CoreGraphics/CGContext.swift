// https://developer.apple.com/documentation/coregraphics/cgcontext
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
public enum CGInterpolationQuality: Int32, Sendable {
    case `default` = 0
    case none = 1
    case low = 2
    case medium = 4
    case high = 3
}

// https://developer.apple.com/documentation/coregraphics/cgblendmode
public enum CGBlendMode: Int32, Sendable {
    case normal = 0
    case copy = 17
}
