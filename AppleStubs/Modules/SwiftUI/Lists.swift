// https://developer.apple.com/documentation/swiftui/list
@MainActor @preconcurrency public struct List<SelectionValue: Hashable, Content: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/list/init(content:)
extension List where SelectionValue == Never {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/foreach
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {}

// https://developer.apple.com/documentation/swiftui/foreach
extension ForEach: View where Content: View {
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/foreach/init(_:content:)
extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
    public nonisolated init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/view/swipeactions(edge:allowsfullswipe:content:)
// https://developer.apple.com/documentation/swiftui/view/refreshable(action:)
extension View {
    public nonisolated func swipeActions<T: View>(@ViewBuilder content: () -> T) -> some View { EmptyView() }
    public nonisolated func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
}
