public import CoreGraphics

// https://developer.apple.com/documentation/imageio/cgimagedestination
public class CGImageDestination {}

// https://developer.apple.com/documentation/imageio/cgimagedestinationcopytypeidentifiers()
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagedestinationcreatewithdata(_:_:_:_:)
public func CGImageDestinationCreateWithData(
    _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagedestinationaddimage(_:_:_:)
public func CGImageDestinationAddImage(
    _ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { fatalError() }

// https://developer.apple.com/documentation/imageio/cgimagedestinationfinalize(_:)
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { fatalError() }
