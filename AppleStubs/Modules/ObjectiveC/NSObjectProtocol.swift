// https://developer.apple.com/documentation/objectivec/nsobjectprotocol
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public protocol NSObjectProtocol: AnyObject {}
