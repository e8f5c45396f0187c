public import CoreFoundation

// https://developer.apple.com/documentation/imageio/cgimagesource#Specifying-the-Read-Options
public var kCGImageSourceCreateThumbnailFromImageAlways: CFString { fatalError() }
public var kCGImageSourceCreateThumbnailWithTransform: CFString { fatalError() }
public var kCGImageSourceShouldAllowFloat: CFString { fatalError() }
public var kCGImageSourceShouldCache: CFString { fatalError() }
public var kCGImageSourceShouldCacheImmediately: CFString { fatalError() }
public var kCGImageSourceThumbnailMaxPixelSize: CFString { fatalError() }

// https://developer.apple.com/documentation/imageio/image-properties
public var kCGImagePropertyColorModel: CFString { fatalError() }
public var kCGImagePropertyDepth: CFString { fatalError() }
public var kCGImagePropertyHasAlpha: CFString { fatalError() }
public var kCGImagePropertyOrientation: CFString { fatalError() }
public var kCGImagePropertyPixelHeight: CFString { fatalError() }
public var kCGImagePropertyPixelWidth: CFString { fatalError() }
public var kCGImagePropertyProfileName: CFString { fatalError() }

// https://developer.apple.com/documentation/imageio/kcgimagedestinationlossycompressionquality
public var kCGImageDestinationLossyCompressionQuality: CFString { fatalError() }
