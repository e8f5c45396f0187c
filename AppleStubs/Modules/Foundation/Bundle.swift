// https://developer.apple.com/documentation/foundation/bundle
open class Bundle: NSObject, @unchecked Sendable {
    open func localizedString(forKey key: String, value: String?, table tableName: String?) -> String { fatalError() }
}

// SwiftPM makes it for a target with resources.
// https://developer.apple.com/documentation/xcode/bundling-resources-with-a-swift-package
extension Bundle {
    public static var module: Bundle { fatalError() }
}
