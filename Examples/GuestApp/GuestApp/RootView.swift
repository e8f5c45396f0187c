import GuestKit
import Martlet
import MartletUI
import SwiftUI

/// Splash, login, articles, or the articles with "sign in again" over them.
struct RootView: View {
    let model: AppModel

    var body: some View {
        SignedInGate(model.session) { _ in
            ArticlesView(session: model.session, articles: model.makeArticles())
        } login: {
            GuestLoginForm(model.login)
        }
    }
}
