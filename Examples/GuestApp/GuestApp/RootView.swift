import GuestKit
import Martlet
import MartletUI
import SwiftUI
import WidgetKit

/// The root of the app: a splash screen, the login, the articles, or the login with the reason why the session has
/// ended.
struct RootView: View {
    let model: AppModel

    var body: some View {
        SignedInGate(model.session) { _ in
            ArticlesView(session: model.session, articles: model.makeArticles())
        } login: {
            LoginView(model: model)
        }
        // The widget shows the articles of the user who is signed in.
        .task(id: model.session.route) { WidgetCenter.shared.reloadAllTimelines() }
    }
}

#Preview("Login") {
    RootView(model: AppModel(server: "http://localhost:8080", store: .inMemory))
}
