import Foundation
import GuestKit
import Martlet
import MartletUI
import SwiftUI

/// The articles, to be pulled down for newer ones.
struct ArticlesView: View {
    let session: SessionModel
    @State private var articles: ArticlesModel
    @State private var isWriting = false

    init(session: SessionModel, articles: ArticlesModel) {
        self.session = session
        // Made anew with each session, and kept for as long as it lasts.
        _articles = State(initialValue: articles)
    }

    var body: some View {
        NavigationStack {
            List {
                ForEach(articles.articles) { article in
                    ArticleRow(article: article)
                        .swipeActions {
                            // Not with the role `.destructive`, for which the row goes at once, and comes back until
                            // the server has agreed.
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
                    // It is the list below that is pulled down.
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
        // One thing at a time: the sheet that asks to sign in again goes first.
        .task(id: session.route) {
            if case .signInAgain = session.route {
                isWriting = false
                articles.dismissError()
            }
        }
        .alert("That Did Not Work", isPresented: hasError) {
            Button("OK") {}
        } message: {
            Text(articles.errorText ?? "")
        }
    }

    /// What fails while an article is written waits until that is done: one thing at a time.
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

/// Whoever is signed in, by picture or by name.
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
