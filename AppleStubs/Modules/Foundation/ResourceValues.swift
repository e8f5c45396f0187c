public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/urlresourcevalues
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct URLResourceValues {
    public init() {}

    // https://developer.apple.com/documentation/foundation/urlresourcevalues/isexcludedfrombackup
    public var isExcludedFromBackup: Bool?
}

// https://developer.apple.com/documentation/foundation/url/setresourcevalues(_:)
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
extension URL {
    public mutating func setResourceValues(_ values: URLResourceValues) throws { fatalError() }
}
