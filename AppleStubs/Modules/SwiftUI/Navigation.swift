// https://developer.apple.com/documentation/swiftui/navigationstack
@MainActor @preconcurrency public struct NavigationStack<Data, Root: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/navigationpath
public struct NavigationPath {}

// https://developer.apple.com/documentation/swiftui/navigationstack/init(root:)
extension NavigationStack where Data == NavigationPath {
    public nonisolated init(@ViewBuilder root: () -> Root) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/menu
@MainActor @preconcurrency public struct Menu<Label: View, Content: View>: View {
    public var body: some View { EmptyView() }
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/toolbarcontent
@MainActor @preconcurrency public protocol ToolbarContent {}

// https://developer.apple.com/documentation/swiftui/toolbarcontentbuilder
@resultBuilder public struct ToolbarContentBuilder {
    public static func buildBlock<Content: ToolbarContent>(_ content: Content) -> some ToolbarContent { content }
    public static func buildBlock<First: ToolbarContent, Second: ToolbarContent>(
        _ first: First, _ second: Second
    ) -> some ToolbarContent { first }
}

// https://developer.apple.com/documentation/swiftui/toolbaritem
public struct ToolbarItem<ID, Content: View>: ToolbarContent {}

// https://developer.apple.com/documentation/swiftui/toolbaritem/init(placement:content:)
extension ToolbarItem where ID == Void {
    public nonisolated init(placement: ToolbarItemPlacement, @ViewBuilder content: () -> Content) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/toolbaritemplacement
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
