import Foundation
import GuestKit
import WidgetKit

/// The content of the widget at one time.
struct HeadlinesEntry: TimelineEntry {
    var date = Date()
    let content: Headlines.Content
}

/// Gives WidgetKit the content, and starts to load newer articles.
struct HeadlinesProvider: TimelineProvider {
    func placeholder(in context: Context) -> HeadlinesEntry {
        HeadlinesEntry(content: .loading)
    }

    func getSnapshot(in context: Context, completion: @escaping @Sendable (HeadlinesEntry) -> Void) {
        Task {
            let plan = await WidgetServices.shared?.headlines.plan()
            completion(HeadlinesEntry(content: plan?.content ?? .loading))
        }
    }

    func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<HeadlinesEntry>) -> Void) {
        Task {
            guard let services = WidgetServices.shared else {
                return completion(Timeline(entries: [HeadlinesEntry(content: .loading)], policy: .never))
            }
            let plan = await services.headlines.plan()
            // WidgetKit may end the widget once it has the timeline. The download continues.
            if plan.loads { await services.load() }
            let entry = HeadlinesEntry(content: plan.content)
            completion(Timeline(entries: [entry], policy: .after(entry.date.addingTimeInterval(plan.pause))))
        }
    }
}
