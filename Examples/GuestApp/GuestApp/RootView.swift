import GuestKit
import Martlet
import MartletUI
import SwiftUI

/// The root of the app: a splash screen, the login, or the articles with a sheet to sign in again.
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
