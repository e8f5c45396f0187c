// https://developer.apple.com/documentation/imageio/cgimagepropertyorientation
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public enum CGImagePropertyOrientation: UInt32, Sendable {
    case up = 1
    case upMirrored
    case down
    case downMirrored
    case leftMirrored
    case right
    case rightMirrored
    case left
}
