internal import ArgumentParser

/// The clients that are compared.
enum ClientName: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// Martlet over async-http-client, with default settings.
    case martlet
    /// The same with `MartletJSONDecoder`.
    case martletJSON
    /// async-http-client and `JSONDecoder`.
    case bare
    /// Martlet over `URLSession`.
    case martletURLSession
    /// `URLSession` and `JSONDecoder`.
    case bareURLSession
    /// An actor with a token and a `URLSession`.
    case actor

    var title: String {
        switch self {
        case .martlet: "Martlet"
        case .martletJSON: "Martlet, MartletJSONDecoder"
        case .bare: "bare async-http-client"
        case .martletURLSession: "Martlet over URLSession"
        case .bareURLSession: "bare URLSession"
        case .actor: "hand-written actor"
        }
    }

    /// The client that uses only the same transport, with which this one is compared.
    var rival: ClientName? {
        switch self {
        case .martlet, .martletJSON: .bare
        case .martletURLSession, .actor: .bareURLSession
        case .bare, .bareURLSession: nil
        }
    }

    /// `URLSession` on Linux is several times slower, so fewer calls take the same time.
    var isSlow: Bool { self == .bareURLSession || rival == .bareURLSession }
}
