@_exported public import Darwin
@_exported public import Dispatch

// https://developer.apple.com/documentation/corefoundation/cftyperef
public typealias CFTypeRef = AnyObject

// https://developer.apple.com/documentation/corefoundation/cftypeid
public typealias CFTypeID = UInt

// https://developer.apple.com/documentation/corefoundation/cfgettypeid(_:)
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { fatalError() }

// https://developer.apple.com/documentation/corefoundation/cfstring
public final class CFString {}

// https://developer.apple.com/documentation/corefoundation/cfdictionary
public class CFDictionary {}

// https://developer.apple.com/documentation/corefoundation/cfarray
public class CFArray {}

// https://developer.apple.com/documentation/corefoundation/cfdata
public class CFData {}

// https://developer.apple.com/documentation/corefoundation/cfmutabledata
public class CFMutableData: CFData {}

// https://developer.apple.com/documentation/corefoundation/cfdatacreatemutable(_:_:)
public func CFDataCreateMutable(_ allocator: CFAllocator!, _ capacity: CFIndex) -> CFMutableData! { fatalError() }

// https://developer.apple.com/documentation/corefoundation/cfindex
public typealias CFIndex = Int

// https://developer.apple.com/documentation/corefoundation/cfurl
public class CFURL {}

// https://developer.apple.com/documentation/corefoundation/cfallocator
public class CFAllocator {}

// https://developer.apple.com/documentation/corefoundation/cferror
public class CFError {}

// https://developer.apple.com/documentation/corefoundation/cfoptionflags
public typealias CFOptionFlags = UInt

// https://developer.apple.com/documentation/corefoundation/cfwritestream
public class CFWriteStream {}

// https://developer.apple.com/documentation/corefoundation/cfwritestreamsetdispatchqueue(_:_:)
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ q: dispatch_queue_t!) { fatalError() }

// https://developer.apple.com/documentation/swift/hashable
// All Core Foundation types are hashable.
extension CFString: Hashable {
    public static func == (left: CFString, right: CFString) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}
