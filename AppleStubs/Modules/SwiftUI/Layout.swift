// `CGFloat.infinity` is a requirement of the standard library's FloatingPoint, so that no file must import it.
@_exported public import CoreGraphics

// https://developer.apple.com/documentation/swiftui/group
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Group<Content> {}

// https://developer.apple.com/documentation/swiftui/group
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Group: View where Content: View {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/vstack
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct VStack<Content: View>: View {
    public nonisolated init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) { fatalError() }
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/hstack
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct HStack<Content: View>: View {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/zstack
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct ZStack<Content: View>: View {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/viewthatfits
// https://developer.apple.com/documentation/swiftui/viewthatfits/init(in:content:)
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
@MainActor @preconcurrency public struct ViewThatFits<Content: View>: View {
    public nonisolated init(
        in axes: Axis.Set = [.horizontal, .vertical], @ViewBuilder content: () -> Content
    ) { fatalError() }
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/scrollview
// https://developer.apple.com/documentation/swiftui/scrollview/init(_:content:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct ScrollView<Content: View>: View {
    public nonisolated init(_ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content) { fatalError() }
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/form
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public struct Form<Content: View>: View {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/section
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Section<Parent, Content, Footer> {}

// https://developer.apple.com/documentation/swiftui/section
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Section: View where Parent: View, Content: View, Footer: View {
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/section/init(content:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Section where Parent == EmptyView, Content: View, Footer == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content) { fatalError() }
}
