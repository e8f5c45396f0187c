import Foundation
import GuestKit
import Martlet
import SwiftUI

/// The example app. Its models are in GuestKit; this target contains the views.
@main struct GuestApp: App {
    @State private var model = AppModel(server: BaseURL(Server.address), store: store)

    /// The store of the session. The widget shares it if the app is signed for the app group. With the launch arguments
    /// `-faceID YES`, the user confirms before the session is read.
    private static var store: AnyTokenStore {
        let asksUser = UserDefaults.standard.string(forKey: "faceID") == "YES"
        let authentication: KeychainAuthentication =
            asksUser ? .userPresence(String(localized: "Open your account")) : .none
        return SharedSession()?.store(authentication: authentication)
            ?? .keychain(service: "com.example.martlet.GuestApp", authentication: authentication)
    }

    var body: some Scene {
        WindowGroup {
            RootView(model: model)
        }
    }
}
