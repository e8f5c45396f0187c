public import Foundation

// https://developer.apple.com/documentation/uikit/uiimage
open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) { fatalError() }
}
