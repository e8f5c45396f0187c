public import CoreGraphics

// https://developer.apple.com/documentation/imageio/cgimagedestination
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public class CGImageDestination {}

// https://developer.apple.com/documentation/imageio/cgimagedestinationcopytypeidentifiers()
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagedestinationcreatewithdata(_:_:_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageDestinationCreateWithData(
    _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagedestinationaddimage(_:_:_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageDestinationAddImage(
    _ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagedestinationfinalize(_:)
@available(iOS 4, macOS 10.4, tvOS 9, watchOS 2, visionOS 1, *)
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { fatalError() }
