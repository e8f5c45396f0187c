import GuestKit
import SwiftUI
import WidgetKit

/// The titles of the newest articles, or a hint how to see them.
struct HeadlinesView: View {
    let content: Headlines.Content

    var body: some View {
        Group {
            switch content {
            case .titles(let titles) where titles.isEmpty: Text("No Articles Yet")
            case .titles(let titles): Text(titles.prefix(3).joined(separator: "\n")).font(.headline)
            case .signedOut: Text("Open the app to sign in.")
            case .loading: Text("Loading Your Articles")
            case .locked: Text("Unlock the device to see your articles.")
            }
        }
        .privacySensitive()
        .containerBackground(for: .widget) { EmptyView() }
    }
}

#Preview("Titles") { HeadlinesView(content: .titles(["Wrens", "Larks"])) }
#Preview("Signed out") { HeadlinesView(content: .signedOut) }
#Preview("Loading") { HeadlinesView(content: .loading) }
#Preview("Locked") { HeadlinesView(content: .locked) }
