public import Foundation

// https://developer.apple.com/documentation/appkit/nsimage
@available(macOS 10.0, *)
open class NSImage: NSObject {
    public init?(data: Data) { fatalError() }
}
