public import CoreFoundation

// https://developer.apple.com/documentation/imageio/cgimagesource#Specifying-the-Read-Options
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageSourceCreateThumbnailFromImageAlways: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageSourceCreateThumbnailWithTransform: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageSourceShouldAllowFloat: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageSourceShouldCache: CFString { fatalError() }
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageSourceShouldCacheImmediately: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageSourceThumbnailMaxPixelSize: CFString { fatalError() }

// https://developer.apple.com/documentation/imageio/image-properties
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyColorModel: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyDepth: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyHasAlpha: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyOrientation: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyPixelHeight: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyPixelWidth: CFString { fatalError() }
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImagePropertyProfileName: CFString { fatalError() }

// https://developer.apple.com/documentation/imageio/kcgimagedestinationlossycompressionquality
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public var kCGImageDestinationLossyCompressionQuality: CFString { fatalError() }
