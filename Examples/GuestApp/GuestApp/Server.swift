import Foundation

/// Where the reference backend is.
enum Server {
    /// On the Mac that the simulator runs on, unless the scheme passes `-server http://my-mac.local:8080`.
    static let address = UserDefaults.standard.string(forKey: "server") ?? "http://localhost:8080"
}
