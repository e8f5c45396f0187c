public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/userdefaults
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class UserDefaults: NSObject {
    open class var standard: UserDefaults { fatalError() }
    public init?(suiteName suitename: String?) { fatalError() }
    open func string(forKey defaultName: String) -> String? { fatalError() }
    open func data(forKey defaultName: String) -> Data? { fatalError() }
    open func object(forKey defaultName: String) -> Any? { fatalError() }
    open func set(_ value: Any?, forKey defaultName: String) { fatalError() }
    open func removeObject(forKey defaultName: String) { fatalError() }
    open func synchronize() -> Bool { fatalError() }
}
