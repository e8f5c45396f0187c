@_exported public import Darwin
@_exported public import Dispatch

// https://developer.apple.com/documentation/corefoundation/cftyperef
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public typealias CFTypeRef = AnyObject

// https://developer.apple.com/documentation/corefoundation/cftypeid
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public typealias CFTypeID = UInt

// https://developer.apple.com/documentation/corefoundation/cfgettypeid(_:)
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { fatalError() }

// https://developer.apple.com/documentation/corefoundation/cfstring
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public final class CFString {}

// https://developer.apple.com/documentation/corefoundation/cfdictionary
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFDictionary {}

// https://developer.apple.com/documentation/corefoundation/cfarray
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFArray {}

// https://developer.apple.com/documentation/corefoundation/cfdata
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFData {}

// https://developer.apple.com/documentation/corefoundation/cfmutabledata
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFMutableData: CFData {}

// https://developer.apple.com/documentation/corefoundation/cfdatacreatemutable(_:_:)
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public func CFDataCreateMutable(_ allocator: CFAllocator!, _ capacity: CFIndex) -> CFMutableData! { fatalError() }

// https://developer.apple.com/documentation/corefoundation/cfindex
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public typealias CFIndex = Int

// https://developer.apple.com/documentation/corefoundation/cfurl
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFURL {}

// https://developer.apple.com/documentation/corefoundation/cfallocator
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFAllocator {}

// https://developer.apple.com/documentation/corefoundation/cferror
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFError {}

// https://developer.apple.com/documentation/corefoundation/cfoptionflags
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public typealias CFOptionFlags = UInt

// https://developer.apple.com/documentation/corefoundation/cfwritestream
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public class CFWriteStream {}

// https://developer.apple.com/documentation/corefoundation/cfwritestreamsetdispatchqueue(_:_:)
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ q: dispatch_queue_t!) { fatalError() }

// https://developer.apple.com/documentation/swift/hashable
// All Core Foundation types are hashable.
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
extension CFString: Hashable {
    public static func == (left: CFString, right: CFString) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}
