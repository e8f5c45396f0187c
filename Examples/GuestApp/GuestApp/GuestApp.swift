import GuestKit
import Martlet
import SwiftUI

/// The example app. Its models are in GuestKit; this target contains the views.
@main struct GuestApp: App {
    @State private var model = AppModel(
        server: BaseURL(Server.address), store: .platformDefault(service: "com.example.martlet.GuestApp"))

    var body: some Scene {
        WindowGroup {
            RootView(model: model)
        }
    }
}
