import Foundation
import GuestKit
import Martlet
import MartletOAuth
import MartletUI
import SwiftUI
import UIKit

/// The login of guests. If the app knows an OpenID provider, a button below it signs the user in with the browser.
struct LoginView: View {
    let model: AppModel
    @State private var browserSignIn: OAuthSignInModel?

    init(model: AppModel, issuer: String? = Server.issuer) {
        self.model = model
        _browserSignIn = State(initialValue: issuer.map { model.makeBrowserSignIn(at: $0) })
    }

    var body: some View {
        VStack {
            GuestLoginForm(model.login)
            if let browserSignIn {
                OAuthSignInButton(browserSignIn, title: String(localized: "Sign In with a Browser")) {
                    .webSession(anchor: window)
                }
                .padding()
            }
        }
    }

    /// The window that the user has tapped in.
    private var window: UIWindow {
        UIApplication.shared.connectedScenes.lazy.compactMap { ($0 as? UIWindowScene)?.keyWindow }.first ?? UIWindow()
    }
}

#Preview("Login with a browser") {
    LoginView(
        model: AppModel(server: "http://localhost:8080", store: .inMemory), issuer: "https://id.example.com")
}
