public import FoundationEssentials

// https://developer.apple.com/documentation/coretransferable/transferable
public protocol Transferable: Sendable {}

// https://developer.apple.com/documentation/foundation/data
extension Data: Transferable {}
