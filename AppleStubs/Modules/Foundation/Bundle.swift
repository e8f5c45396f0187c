// https://developer.apple.com/documentation/foundation/bundle
open class Bundle: NSObject, @unchecked Sendable {
    open class var main: Bundle { fatalError() }
    open var preferredLocalizations: [String] { fatalError() }
    open func object(forInfoDictionaryKey key: String) -> Any? { fatalError() }
}
