// https://developer.apple.com/documentation/swiftui/environmentvalues
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct EnvironmentValues {
    public var dismiss: DismissAction { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/dismissaction
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
@MainActor @preconcurrency public struct DismissAction {
    public func callAsFunction() { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/environment
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}
