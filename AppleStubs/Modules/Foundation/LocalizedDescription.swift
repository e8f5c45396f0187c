// https://developer.apple.com/documentation/swift/error/localizeddescription
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
extension Error {
    public var localizedDescription: String { fatalError() }
}
