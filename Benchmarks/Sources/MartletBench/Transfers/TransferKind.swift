internal import ArgumentParser

/// What is transferred, and by whom.
enum TransferKind: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// A form with one file, from disk.
    case form
    /// A form for a server that reads nothing for a second and then slowly.
    case sluggishForm
    /// A form that is refused with a 401 at its end, and sent again with another token.
    case replayedForm
    /// The bare file, from disk.
    case file
    /// `NetworkClient.download` to a file.
    case download
    /// The same bytes by async-http-client alone, each piece written to a file as it comes.
    case bareDownload
}

/// Which transport sends.
enum TransportName: String, CaseIterable, Sendable, ExpressibleByArgument {
    case asyncHTTPClient
    case urlSession
}

/// What one transfer took.
struct Transfer: Codable, Sendable {
    var seconds: Double
    var cpuSeconds: Double
    /// The most memory that was ever resident in the process, less what was when it had made one small request.
    var bytesAboveIdle: Int
}
