public import CoreGraphics
public import FoundationEssentials

// https://developer.apple.com/documentation/swiftui/contentunavailableview
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor @preconcurrency public struct ContentUnavailableView<Label: View, Description: View, Actions: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/contentunavailableview/init(_:systemimage:description:)
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension ContentUnavailableView where Label == SwiftUI.Label<Text, Image>, Description == Text?, Actions == EmptyView {
    public nonisolated init(_ title: LocalizedStringKey, systemImage name: String, description: Text? = nil) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/asyncimage
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
@MainActor @preconcurrency public struct AsyncImage<Content: View>: View {
    public var body: some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/asyncimage/init(url:scale:content:placeholder:)
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
extension AsyncImage {
    public nonisolated init<I: View, P: View>(
        url: URL?, scale: CGFloat = 1, @ViewBuilder content: @escaping (Image) -> I,
        @ViewBuilder placeholder: @escaping () -> P
    ) where Content == ConditionalContent<I, P> { fatalError() }
}
