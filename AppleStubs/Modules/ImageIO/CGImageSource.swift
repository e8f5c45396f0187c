@_exported public import CoreGraphics

// https://developer.apple.com/documentation/imageio/cgimagesource
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public class CGImageSource {}

// https://developer.apple.com/documentation/imageio/cgimagesourcecreatewithdata(_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcecreatewithurl(_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegettype(_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceGetType(_ isrc: CGImageSource) -> CFString? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegetcount(_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceGetCount(_ isrc: CGImageSource) -> Int { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegetprimaryimageindex(_:)
@available(iOS 12, macOS 10.14, tvOS 12, watchOS 5, visionOS 1, *)
public func CGImageSourceGetPrimaryImageIndex(_ isrc: CGImageSource) -> Int { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcestatus
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public enum CGImageSourceStatus: Int32, Sendable {
    case statusUnexpectedEOF = -5
    case statusInvalidData = -4
    case statusUnknownType = -3
    case statusReadingHeader = -2
    case statusIncomplete = -1
    case statusComplete = 0
}

// https://developer.apple.com/documentation/imageio/cgimagesourcegetstatus(_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceGetStatus(_ isrc: CGImageSource) -> CGImageSourceStatus { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcegetstatusatindex(_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceGetStatusAtIndex(_ isrc: CGImageSource, _ index: Int) -> CGImageSourceStatus { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcecopypropertiesatindex(_:_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceCopyPropertiesAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CFDictionary? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagesourcecreatethumbnailatindex(_:_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageSourceCreateThumbnailAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { fatalError() }
