// https://developer.apple.com/documentation/swiftui/buttonrole
public struct ButtonRole: Equatable, Sendable {
    public static let cancel: ButtonRole = { fatalError() }()
    public static let destructive: ButtonRole = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/button
@MainActor @preconcurrency public struct Button<Label: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/button/init(_:action:)
// https://developer.apple.com/documentation/swiftui/button/init(_:role:action:)
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
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
extension Button where Label == SwiftUI.Label<Text, Image> {
    public nonisolated init(
        _ titleKey: LocalizedStringKey, systemImage: String, action: @escaping @MainActor () -> Void
    ) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/textfield
@MainActor @preconcurrency public struct TextField<Label: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/textfield/init(_:text:)
// https://developer.apple.com/documentation/swiftui/textfield/init(_:text:axis:)
extension TextField where Label == Text {
    public nonisolated init(_ titleKey: LocalizedStringKey, text: Binding<String>) { fatalError() }
    public nonisolated init(_ titleKey: LocalizedStringKey, text: Binding<String>, axis: Axis) { fatalError() }
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, text: Binding<String>) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/axis
@frozen public enum Axis: Int8, Sendable {
    case vertical
}

// https://developer.apple.com/documentation/swiftui/axis/set
extension Axis {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { fatalError() }
        public static let horizontal: Axis.Set = { fatalError() }()
        public static let vertical: Axis.Set = { fatalError() }()
    }
}

// https://developer.apple.com/documentation/swiftui/submitlabel
public struct SubmitLabel: Sendable {
    public static var go: SubmitLabel { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/progressview
@MainActor @preconcurrency public struct ProgressView<Label: View, CurrentValueLabel: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/progressview/init()
extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
    public nonisolated init() { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/progressview/init(value:total:label:)
extension ProgressView where CurrentValueLabel == EmptyView {
    public nonisolated init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0, @ViewBuilder label: () -> Label) {
        fatalError()
    }
}
