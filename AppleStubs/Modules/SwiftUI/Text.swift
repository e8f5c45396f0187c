public import FoundationEssentials

// https://developer.apple.com/documentation/swiftui/localizedstringkey
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/text
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Text: View, Equatable, Sendable {
    public nonisolated init(_ key: LocalizedStringKey) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ content: S) { fatalError() }
    public var body: Never { fatalError() }
    public nonisolated static func == (one: Text, other: Text) -> Bool { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/text/datestyle
// https://developer.apple.com/documentation/swiftui/text/init(_:style:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Text {
    public struct DateStyle: Sendable {
        public static let relative: DateStyle = { fatalError() }()
    }

    public nonisolated init(_ date: Date, style: DateStyle) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/textalignment
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@frozen public enum TextAlignment: Hashable, CaseIterable, Sendable {
    case center
}

// https://developer.apple.com/documentation/swiftui/font
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Font: Hashable, Sendable {
    public static let callout: Font = { fatalError() }()
    public static let caption: Font = { fatalError() }()
    public static let headline: Font = { fatalError() }()
    public static let title2: Font = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/label
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
@MainActor @preconcurrency public struct Label<Title: View, Icon: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/label/init(_:systemimage:)
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
extension Label where Title == Text, Icon == Image {
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage name: String) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, systemImage name: String) { fatalError() }
}
