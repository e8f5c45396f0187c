public import FoundationEssentials

// https://developer.apple.com/documentation/coretransferable/transferable
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
public protocol Transferable: Sendable {}

// https://developer.apple.com/documentation/foundation/data
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
extension Data: Transferable {}
