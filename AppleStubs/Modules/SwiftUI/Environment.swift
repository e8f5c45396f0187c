// https://developer.apple.com/documentation/swiftui/environmentvalues
public struct EnvironmentValues {
    public var dismiss: DismissAction { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/dismissaction
@MainActor @preconcurrency public struct DismissAction {
    public func callAsFunction() { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/environment
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}
