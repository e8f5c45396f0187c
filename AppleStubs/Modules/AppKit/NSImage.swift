public import Foundation

// https://developer.apple.com/documentation/appkit/nsimage
open class NSImage: NSObject {
    public init?(data: Data) { fatalError() }
}
