public import CoreFoundation
public import FoundationEssentials

// `as` between these types needs Objective-C. The check replaces `query as CFDictionary` and `kSecClass as String` with
// calls of these methods. They are declared here because the bridging is part of Foundation.

// https://developer.apple.com/documentation/swift/dictionary
// Always available.
extension Dictionary {
    public func _bridged(to type: CFDictionary.Type) -> CFDictionary { fatalError() }
}

// https://developer.apple.com/documentation/swift/string
// Always available.
extension String {
    public func _bridged(to type: CFString.Type) -> CFString { fatalError() }
    public func _bridged(to type: String.Type) -> String { fatalError() }
}

// https://developer.apple.com/documentation/corefoundation/cfstring
// Always available.
extension CFString {
    public func _bridged(to type: String.Type) -> String { fatalError() }
}

// https://developer.apple.com/documentation/foundation/outputstream
// Always available.
extension OutputStream {
    public func _bridged(to type: CFWriteStream.Type) -> CFWriteStream { fatalError() }
}

// https://developer.apple.com/documentation/foundation/data
// Always available.
extension Data {
    public func _bridged(to type: CFData.Type) -> CFData { fatalError() }
}

// https://developer.apple.com/documentation/corefoundation/cfdata
// Always available.
extension CFData {
    public func _bridged(to type: Data.Type) -> Data { fatalError() }
}

// https://developer.apple.com/documentation/foundation/url
// Always available.
extension URL {
    public func _bridged(to type: CFURL.Type) -> CFURL { fatalError() }
}

// https://developer.apple.com/documentation/swift/array
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
extension Array {
    public func _bridged(to type: CFArray.Type) -> CFArray { fatalError() }
}
