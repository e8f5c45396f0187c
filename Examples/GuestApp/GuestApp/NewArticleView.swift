import Accessibility
import GuestKit
import SwiftUI

/// An editor for a new article. Closes once the article is published.
struct NewArticleView: View {
    let articles: ArticlesModel
    @State private var draft = Article.Draft()
    @State private var isSending = false
    @State private var errorText: String?
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            Form {
                Section {
                    TextField("Title", text: $draft.title)
                    TextField("Text", text: $draft.body, axis: .vertical)
                }
                if let errorText {
                    Section {
                        Label(errorText, systemImage: "exclamationmark.triangle").foregroundStyle(.red)
                    }
                }
            }
            .navigationTitle("New Article")
            .disabled(isSending)
            .toolbar {
                ToolbarItem(placement: .cancellationAction) {
                    // Disabled while sending: `publish()` would later dismiss whatever sheet is shown then.
                    Button("Cancel", role: .cancel) { dismiss() }.disabled(isSending)
                }
                ToolbarItem(placement: .confirmationAction) {
                    Button("Publish") { publish() }.disabled(!draft.isComplete || isSending)
                }
            }
        }
        .interactiveDismissDisabled(isSending)
    }

    private func publish() {
        isSending = true
        errorText = nil
        Task {
            switch await articles.create(draft) {
            case .published: dismiss()
            case .failed(let text):
                errorText = text
                // Announce the error, because VoiceOver's focus is elsewhere.
                if let text { AccessibilityNotification.Announcement(text).post() }
            }
            isSending = false
        }
    }
}

#Preview("New article") {
    NewArticleView(articles: .preview(titles: []))
}
