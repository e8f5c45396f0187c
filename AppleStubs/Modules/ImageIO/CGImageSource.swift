@_exported public import CoreGraphics

// https://developer.apple.com/documentation/imageio/cgimagesource
public class CGImageSource {}

// https://developer.apple.com/documentation/imageio/cgimagesourcecreatewithdata(_:_:)
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcecreatewithurl(_:_:)
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegettype(_:)
public func CGImageSourceGetType(_ isrc: CGImageSource) -> CFString? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegetcount(_:)
public func CGImageSourceGetCount(_ isrc: CGImageSource) -> Int { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegetprimaryimageindex(_:)
public func CGImageSourceGetPrimaryImageIndex(_ isrc: CGImageSource) -> Int { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcestatus
public enum CGImageSourceStatus: Int32, Sendable {
    case statusUnexpectedEOF = -5
    case statusInvalidData = -4
    case statusUnknownType = -3
    case statusReadingHeader = -2
    case statusIncomplete = -1
    case statusComplete = 0
}

// https://developer.apple.com/documentation/imageio/cgimagesourcegetstatus(_:)
public func CGImageSourceGetStatus(_ isrc: CGImageSource) -> CGImageSourceStatus { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegetstatusatindex(_:_:)
public func CGImageSourceGetStatusAtIndex(_ isrc: CGImageSource, _ index: Int) -> CGImageSourceStatus { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcecopypropertiesatindex(_:_:_:)
public func CGImageSourceCopyPropertiesAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CFDictionary? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcecreatethumbnailatindex(_:_:_:)
public func CGImageSourceCreateThumbnailAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { fatalError() }
