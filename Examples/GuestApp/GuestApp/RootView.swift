import GuestKit
import Martlet
import MartletUI
import SwiftUI

/// The root of the app: a splash screen, the login, the articles, or the login with the reason why the session has ended.
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
