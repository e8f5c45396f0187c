// https://developer.apple.com/documentation/swiftui/list
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct List<SelectionValue: Hashable, Content: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/list/init(content:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension List where SelectionValue == Never {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/foreach
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {}

// https://developer.apple.com/documentation/swiftui/foreach
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension ForEach: View where Content: View {
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/foreach/init(_:content:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
    public nonisolated init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/view/swipeactions(edge:allowsfullswipe:content:)
// https://developer.apple.com/documentation/swiftui/view/refreshable(action:)
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
extension View {
    public nonisolated func swipeActions<T: View>(@ViewBuilder content: () -> T) -> some View { EmptyView() }
    public nonisolated func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
}
