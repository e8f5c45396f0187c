// https://developer.apple.com/documentation/swiftui/widgetconfiguration
@available(iOS 14, macOS 11, watchOS 9, visionOS 1, *)
@available(tvOS, unavailable)
@MainActor @preconcurrency public protocol WidgetConfiguration {
    associatedtype Body: WidgetConfiguration
    var body: Body { get }
}

// The result of a modifier. Apple's type is not public.
// https://developer.apple.com/documentation/swiftui/widgetconfiguration
@available(iOS 14, macOS 11, watchOS 9, visionOS 1, *)
@available(tvOS, unavailable)
public struct EmptyWidgetConfiguration: WidgetConfiguration {
    public nonisolated init() {}
    public var body: EmptyWidgetConfiguration { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/widget
@available(iOS 14, macOS 11, watchOS 9, visionOS 1, *)
@available(tvOS, unavailable)
@MainActor @preconcurrency public protocol Widget {
    associatedtype Body: WidgetConfiguration
    var body: Body { get }
    init()
}

// https://developer.apple.com/documentation/swiftui/widget/main()
@available(iOS 14, macOS 11, watchOS 9, visionOS 1, *)
@available(tvOS, unavailable)
extension Widget {
    public static func main() { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/backgroundtask
// https://developer.apple.com/documentation/swiftui/backgroundtask/urlsession(_:)
@available(iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1, *)
public struct BackgroundTask<Request, Response> {
    public static func urlSession(
        _ identifier: String
    ) -> BackgroundTask<Void, Void> where Request == Void, Response == Void { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/widgetconfiguration/backgroundtask(_:action:)
@available(iOS 16, macOS 13, watchOS 9, visionOS 1, *)
@available(tvOS, unavailable)
extension WidgetConfiguration {
    public nonisolated func backgroundTask<D: Sendable, R: Sendable>(
        _ task: BackgroundTask<D, R>, action: @escaping @Sendable (D) async -> R
    ) -> some WidgetConfiguration { EmptyWidgetConfiguration() }
}

// https://developer.apple.com/documentation/swiftui/containerbackgroundplacement
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
public struct ContainerBackgroundPlacement: Hashable, Sendable {
    @available(tvOS, unavailable)
    public static let widget: ContainerBackgroundPlacement = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/view/containerbackground(for:alignment:content:)
// https://developer.apple.com/documentation/swiftui/view/privacysensitive(_:)
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension View {
    public nonisolated func containerBackground<V: View>(
        for container: ContainerBackgroundPlacement, @ViewBuilder content: () -> V
    ) -> some View { EmptyView() }
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
    public nonisolated func privacySensitive(_ sensitive: Bool = true) -> some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/previewprovider
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder static var previews: Previews { get }
}

// https://developer.apple.com/documentation/swiftui/view/previewdisplayname(_:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension View {
    public nonisolated func previewDisplayName(_ value: String?) -> some View { EmptyView() }
}
