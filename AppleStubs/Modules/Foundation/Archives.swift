public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/nscopying
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public protocol NSCopying {}

// https://developer.apple.com/documentation/foundation/nsstring
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class NSString: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public init(string aString: String) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/nsnumber
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class NSNumber: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public init(value: Int) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/nserror
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class NSError: NSObject, NSCopying, NSSecureCoding, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo dict: [String: Any]? = nil) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/nskeyedarchiver
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class NSKeyedArchiver: NSObject {
    // https://developer.apple.com/documentation/foundation/nskeyedarchiver/archiveddata(withrootobject:requiringsecurecoding:)
    @available(iOS 11, macOS 10.13, tvOS 11, watchOS 4, visionOS 1, *)
    open class func archivedData(withRootObject object: Any, requiringSecureCoding requiresSecureCoding: Bool) throws -> Data {
        fatalError()
    }
}
