// https://developer.apple.com/documentation/swiftui/buttonrole
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public struct ButtonRole: Equatable, Sendable {
    public static let cancel: ButtonRole = { fatalError() }()
    public static let destructive: ButtonRole = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/button
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct Button<Label: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/button/init(_:action:)
// https://developer.apple.com/documentation/swiftui/button/init(_:role:action:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Button where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) { fatalError() }
    public nonisolated init(
        _ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void
    ) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(
        _ title: S, action: @escaping @MainActor () -> Void
    ) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(
        _ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void
    ) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/button/init(_:systemimage:action:)
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension Button where Label == SwiftUI.Label<Text, Image> {
    public nonisolated init(
        _ titleKey: LocalizedStringKey, systemImage: String, action: @escaping @MainActor () -> Void
    ) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/textfield
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct TextField<Label: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/textfield/init(_:text:)
// https://developer.apple.com/documentation/swiftui/textfield/init(_:text:axis:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension TextField where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, text: Binding<String>) { fatalError() }
    public nonisolated init(_ titleKey: LocalizedStringKey, text: Binding<String>, axis: Axis) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, text: Binding<String>) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/axis
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@frozen public enum Axis: Int8, Sendable {
    case vertical
}

// https://developer.apple.com/documentation/swiftui/axis/set
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Axis {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { fatalError() }
        public static let horizontal: Axis.Set = { fatalError() }()
        public static let vertical: Axis.Set = { fatalError() }()
    }
}

// https://developer.apple.com/documentation/swiftui/submitlabel
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public struct SubmitLabel: Sendable {
    public static var go: SubmitLabel { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/progressview
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
@MainActor @preconcurrency public struct ProgressView<Label: View, CurrentValueLabel: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/progressview/init()
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
    public nonisolated init() { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/progressview/init(value:total:label:)
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
extension ProgressView where CurrentValueLabel == EmptyView {
    public nonisolated init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0, @ViewBuilder label: () -> Label) {
        fatalError()
    }
}
