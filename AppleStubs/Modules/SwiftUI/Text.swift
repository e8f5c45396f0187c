public import FoundationEssentials

// https://developer.apple.com/documentation/swiftui/localizedstringkey
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/text
public struct Text: View, Equatable, Sendable {
    public nonisolated init(_ key: LocalizedStringKey) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ content: S) { fatalError() }
    public var body: Never { fatalError() }
    public nonisolated static func == (one: Text, other: Text) -> Bool { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/text/datestyle
// https://developer.apple.com/documentation/swiftui/text/init(_:style:)
extension Text {
    public struct DateStyle: Sendable {
        public static let relative: DateStyle = { fatalError() }()
    }

    public nonisolated init(_ date: Date, style: DateStyle) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/textalignment
@frozen public enum TextAlignment: Hashable, CaseIterable, Sendable {
    case center
}

// https://developer.apple.com/documentation/swiftui/font
public struct Font: Hashable, Sendable {
    public static let callout: Font = { fatalError() }()
    public static let caption: Font = { fatalError() }()
    public static let headline: Font = { fatalError() }()
    public static let title2: Font = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/label
@MainActor @preconcurrency public struct Label<Title: View, Icon: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/label/init(_:systemimage:)
extension Label where Title == Text, Icon == Image {
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage name: String) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, systemImage name: String) { fatalError() }
}
