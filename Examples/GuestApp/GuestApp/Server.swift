import Foundation

/// The address of the reference backend.
enum Server {
    /// The Mac that runs the simulator, unless the scheme passes `-server http://my-mac.local:8080`.
    static let address = UserDefaults.standard.string(forKey: "server") ?? "http://localhost:8080"

    /// The issuer of the OpenID provider, if the scheme passes one: `-issuer http://127.0.0.1:8080`.
    static let issuer = UserDefaults.standard.string(forKey: "issuer")
}
