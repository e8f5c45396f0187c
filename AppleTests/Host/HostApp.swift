import SwiftUI

/// The app that hosts the tests: the Keychain is per app, and a test bundle without a host has none on a simulator.
@main struct HostApp: App {
    var body: some Scene {
        WindowGroup {
            Text("The tests run in this app.")
        }
    }
}
