public import FoundationEssentials

// https://developer.apple.com/documentation/widgetkit/timelineentry
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public protocol TimelineEntry {
    var date: Date { get }
}

// https://developer.apple.com/documentation/widgetkit/timelineprovidercontext
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public struct TimelineProviderContext {}

// https://developer.apple.com/documentation/widgetkit/timelineprovider
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public protocol TimelineProvider {
    associatedtype Entry: TimelineEntry
    typealias Context = TimelineProviderContext
    func placeholder(in context: Context) -> Entry
    @preconcurrency func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void)
    @preconcurrency func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void)
}

// https://developer.apple.com/documentation/widgetkit/timeline
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public struct Timeline<EntryType: TimelineEntry> {
    public init(entries: [EntryType], policy: TimelineReloadPolicy) { fatalError() }
}

// https://developer.apple.com/documentation/widgetkit/timelinereloadpolicy
@available(iOS 14, macOS 11, watchOS 9, visionOS 26, *)
public struct TimelineReloadPolicy: Equatable {
    public static var never: TimelineReloadPolicy { fatalError() }
    public static func after(_ date: Date) -> TimelineReloadPolicy { fatalError() }
}
