import GuestKit
import MartletBackground
import SwiftUI
import WidgetKit

/// A widget with the titles of the newest articles. It shares the session with the app.
@main struct GuestWidget: Widget {
    var body: some WidgetConfiguration {
        StaticConfiguration(kind: "Headlines", provider: HeadlinesProvider()) { entry in
            HeadlinesView(content: entry.content)
        }
        .configurationDisplayName("Articles")
        .description("The newest articles.")
        .supportedFamilies([.systemSmall, .systemMedium])
        // The system wakes the widget when its downloads have ended. Those of the app have another identifier.
        .backgroundTask(.urlSession(SharedSession.transfersIdentifier(of: .widget))) {
            await WidgetServices.shared?.transfers.handleEvents()
        }
    }
}
