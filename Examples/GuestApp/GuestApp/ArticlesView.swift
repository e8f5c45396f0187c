import Foundation
import GuestKit
import Martlet
import MartletUI
import SwiftUI

/// The list of articles, with pull to refresh.
struct ArticlesView: View {
    let session: SessionModel
    @State private var articles: ArticlesModel
    @State private var isWriting = false

    init(session: SessionModel, articles: ArticlesModel) {
        self.session = session
        // One model per session: SwiftUI keeps the first one for the lifetime of the view.
        _articles = State(initialValue: articles)
    }

    var body: some View {
        NavigationStack {
            List {
                ForEach(articles.articles) { article in
                    ArticleRow(article: article)
                        .swipeActions {
                            // No `.destructive` role: it would remove the row at once and show it again until the
                            // server has deleted the article.
                            Button("Delete") { Task { await articles.delete(article) } }
                                .tint(.red)
                        }
                }
            }
            .overlay {
                if articles.isLoaded && articles.articles.isEmpty {
                    ContentUnavailableView(
                        "No Articles Yet", systemImage: "doc.text", description: Text("Write the first one.")
                    )
                    // Pass drags on to the list, for pull to refresh.
                    .allowsHitTesting(false)
                }
            }
            .refreshable { await articles.load() }
            .navigationTitle("Articles")
            .toolbar {
                ToolbarItem(placement: .topBarLeading) {
                    Menu {
                        Button("Log Out", role: .destructive) { session.signOut() }
                    } label: {
                        Avatar(user: articles.user)
                    }
                }
                ToolbarItem(placement: .primaryAction) {
                    Button("New Article", systemImage: "square.and.pencil") { isWriting = true }
                }
            }
        }
        .task { await articles.load() }
        .sheet(isPresented: $isWriting) {
            NewArticleView(articles: articles)
        }
        // Dismiss the editor and the alert, because SwiftUI presents one at a time and the login sheet comes first.
        .task(id: session.route) {
            if case .signInAgain = session.route {
                isWriting = false
                articles.dismissError()
            }
        }
        .alert("Something Went Wrong", isPresented: hasError) {
            Button("OK") {}
        } message: {
            Text(articles.errorText ?? "")
        }
    }

    /// Whether to show the alert. An error that occurs while an article is written is shown after the editor is closed.
    private var hasError: Binding<Bool> {
        Binding(
            get: { @MainActor in articles.errorText != nil && !isWriting },
            set: { @MainActor in if !$0 { articles.dismissError() } })
    }
}

private struct ArticleRow: View {
    let article: Article

    var body: some View {
        VStack(alignment: .leading) {
            Text(article.title).font(.headline)
            if !article.body.isEmpty { Text(article.body) }
            Text(article.createdAt, style: .relative)
                .font(.caption)
                .foregroundStyle(.secondary)
        }
        .accessibilityElement(children: .combine)
    }
}

/// The signed-in user's picture, or a placeholder.
private struct Avatar: View {
    let user: User?
    @ScaledMetric private var side = 32.0

    var body: some View {
        AsyncImage(url: picture) { image in
            image.resizable().scaledToFill()
        } placeholder: {
            Image(systemName: "person.crop.circle").resizable().scaledToFit()
        }
        .frame(width: side, height: side)
        .clipShape(Circle())
        .accessibilityElement(children: .ignore)
        .accessibilityLabel(user.map { Text("Signed in as \($0.name)") } ?? Text("Account"))
    }

    private var picture: URL? {
        user?.profileImageKey.flatMap { URL(string: "\(Server.address)/images/\($0)") }
    }
}

#Preview("Articles") {
    ArticlesView(
        session: SessionModel(SessionSource(state: { .loading })), articles: .preview(titles: ["Wrens", "Larks"]))
}

#Preview("No articles") {
    ArticlesView(session: SessionModel(SessionSource(state: { .loading })), articles: .preview(titles: []))
}
