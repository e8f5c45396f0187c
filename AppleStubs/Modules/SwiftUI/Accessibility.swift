// https://developer.apple.com/documentation/swiftui/accessibilitytraits
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct AccessibilityTraits: SetAlgebra, Sendable {
    public init() { fatalError() }
    public static let isHeader: AccessibilityTraits = { fatalError() }()
    public static let isImage: AccessibilityTraits = { fatalError() }()
    public static let updatesFrequently: AccessibilityTraits = { fatalError() }()
}

// https://developer.apple.com/documentation/swift/setalgebra
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension AccessibilityTraits {
    public typealias Element = AccessibilityTraits
    public func contains(_ member: AccessibilityTraits) -> Bool { fatalError() }
    public func union(_ other: AccessibilityTraits) -> AccessibilityTraits { fatalError() }
    public func intersection(_ other: AccessibilityTraits) -> AccessibilityTraits { fatalError() }
    public func symmetricDifference(_ other: AccessibilityTraits) -> AccessibilityTraits { fatalError() }
    public mutating func insert(
        _ newMember: AccessibilityTraits
    ) -> (inserted: Bool, memberAfterInsert: AccessibilityTraits) { fatalError() }
    public mutating func remove(_ member: AccessibilityTraits) -> AccessibilityTraits? { fatalError() }
    public mutating func update(with newMember: AccessibilityTraits) -> AccessibilityTraits? { fatalError() }
    public mutating func formUnion(_ other: AccessibilityTraits) { fatalError() }
    public mutating func formIntersection(_ other: AccessibilityTraits) { fatalError() }
    public mutating func formSymmetricDifference(_ other: AccessibilityTraits) { fatalError() }
    public static func == (one: AccessibilityTraits, other: AccessibilityTraits) -> Bool { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/accessibilitychildbehavior
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct AccessibilityChildBehavior: Hashable, Sendable {
    public static let ignore: AccessibilityChildBehavior = { fatalError() }()
    public static let contain: AccessibilityChildBehavior = { fatalError() }()
    public static let combine: AccessibilityChildBehavior = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/view/accessibilitylabel(_:)
// https://developer.apple.com/documentation/swiftui/view/accessibilityvalue(_:)
// https://developer.apple.com/documentation/swiftui/view/accessibilityhint(_:)
// https://developer.apple.com/documentation/swiftui/view/accessibilityaddtraits(_:)
// https://developer.apple.com/documentation/swiftui/view/accessibilityelement(children:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension View {
    public nonisolated func accessibilityLabel(_ label: Text) -> some View { EmptyView() }
    @_disfavoredOverload public nonisolated func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View {
        EmptyView()
    }
    @_disfavoredOverload public nonisolated func accessibilityValue<S: StringProtocol>(_ value: S) -> some View {
        EmptyView()
    }
    @_disfavoredOverload public nonisolated func accessibilityHint<S: StringProtocol>(_ hint: S) -> some View {
        EmptyView()
    }
    public nonisolated func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { EmptyView() }
    public nonisolated func accessibilityElement(
        children: AccessibilityChildBehavior = .ignore
    ) -> some View { EmptyView() }
}
