// https://developer.apple.com/documentation/swiftui/navigationstack
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
@MainActor @preconcurrency public struct NavigationStack<Data, Root: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/navigationpath
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
public struct NavigationPath {}

// https://developer.apple.com/documentation/swiftui/navigationstack/init(root:)
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
extension NavigationStack where Data == NavigationPath {
    public nonisolated init(@ViewBuilder root: () -> Root) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/menu
@available(iOS 14, macOS 11, tvOS 17, visionOS 1, *)
@available(watchOS, unavailable)
@MainActor @preconcurrency public struct Menu<Label: View, Content: View>: View {
    public var body: some View { EmptyView() }
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/toolbarcontent
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
@MainActor @preconcurrency public protocol ToolbarContent {}

// https://developer.apple.com/documentation/swiftui/toolbarcontentbuilder
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
@resultBuilder public struct ToolbarContentBuilder {
    public static func buildBlock<Content: ToolbarContent>(_ content: Content) -> some ToolbarContent { content }
    public static func buildBlock<First: ToolbarContent, Second: ToolbarContent>(
        _ first: First, _ second: Second
    ) -> some ToolbarContent { first }
}

// https://developer.apple.com/documentation/swiftui/toolbaritem
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct ToolbarItem<ID, Content: View>: ToolbarContent {}

// https://developer.apple.com/documentation/swiftui/toolbaritem/init(placement:content:)
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
extension ToolbarItem where ID == Void {
    public nonisolated init(placement: ToolbarItemPlacement, @ViewBuilder content: () -> Content) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/toolbaritemplacement
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
public struct ToolbarItemPlacement: Sendable {
    public static let cancellationAction: ToolbarItemPlacement = { fatalError() }()
    public static let confirmationAction: ToolbarItemPlacement = { fatalError() }()
    public static let primaryAction: ToolbarItemPlacement = { fatalError() }()
    #if !os(macOS)
        public static let topBarLeading: ToolbarItemPlacement = { fatalError() }()
    #endif
}

// https://developer.apple.com/documentation/swiftui/view/toolbar(content:)
// https://developer.apple.com/documentation/swiftui/view/navigationtitle(_:)
// https://developer.apple.com/documentation/swiftui/view/alert(_:ispresented:actions:message:)
@available(iOS 14, macOS 11, tvOS 14, watchOS 7, visionOS 1, *)
extension View {
    public nonisolated func toolbar<Content: ToolbarContent>(
        @ToolbarContentBuilder content: () -> Content
    ) -> some View { EmptyView() }
    public nonisolated func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { EmptyView() }
    public nonisolated func alert<A: View, M: View>(
        _ titleKey: LocalizedStringKey, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A,
        @ViewBuilder message: () -> M
    ) -> some View { EmptyView() }
}
