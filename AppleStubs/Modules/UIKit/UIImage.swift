public import CoreGraphics
public import Foundation

// https://developer.apple.com/documentation/uikit/uiimage
@available(iOS 2, tvOS 9, watchOS 2, visionOS 1, *)
open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) { fatalError() }
    open var cgImage: CGImage? { fatalError() }
    open var imageOrientation: UIImage.Orientation { fatalError() }
}

// https://developer.apple.com/documentation/uikit/uiimage/orientation
@available(iOS 2, tvOS 9, watchOS 2, visionOS 1, *)
extension UIImage {
    public enum Orientation: Int, Sendable {
        case up = 0
        case down
        case left
        case right
        case upMirrored
        case downMirrored
        case leftMirrored
        case rightMirrored
    }
}
