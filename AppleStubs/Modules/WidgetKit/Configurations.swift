public import SwiftUI

// https://developer.apple.com/documentation/widgetkit/staticconfiguration
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
@MainActor @preconcurrency public struct StaticConfiguration<Content: View>: WidgetConfiguration {
    public init<Provider: TimelineProvider>(
        kind: String, provider: Provider, @ViewBuilder content: @escaping (Provider.Entry) -> Content
    ) { fatalError() }
    public var body: some WidgetConfiguration { EmptyWidgetConfiguration() }
}

// https://developer.apple.com/documentation/swiftui/widgetconfiguration/configurationdisplayname(_:)
// https://developer.apple.com/documentation/swiftui/widgetconfiguration/description(_:)
// https://developer.apple.com/documentation/swiftui/widgetconfiguration/supportedfamilies(_:)
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
extension WidgetConfiguration {
    @MainActor @preconcurrency public func configurationDisplayName(
        _ displayName: LocalizedStringKey
    ) -> some WidgetConfiguration { EmptyWidgetConfiguration() }
    @MainActor @preconcurrency public func description(
        _ description: LocalizedStringKey
    ) -> some WidgetConfiguration { EmptyWidgetConfiguration() }
    @MainActor @preconcurrency public func supportedFamilies(
        _ families: [WidgetFamily]
    ) -> some WidgetConfiguration { EmptyWidgetConfiguration() }
}

// https://developer.apple.com/documentation/widgetkit/widgetfamily
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public enum WidgetFamily: Int, Hashable, Sendable {
    case systemSmall
    case systemMedium
}

// https://developer.apple.com/documentation/widgetkit/widgetcenter
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public final class WidgetCenter: Sendable {
    public static let shared: WidgetCenter = { fatalError() }()
    public func reloadAllTimelines() { fatalError() }
}
