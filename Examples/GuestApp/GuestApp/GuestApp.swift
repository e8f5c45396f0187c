import GuestKit
import Martlet
import SwiftUI

/// Guests write articles. What the app does is in GuestKit; here is what it looks like.
@main struct GuestApp: App {
    @State private var model = AppModel(
        server: BaseURL(Server.address), store: .platformDefault(service: "com.example.martlet.GuestApp"))

    var body: some Scene {
        WindowGroup {
            RootView(model: model)
        }
    }
}
