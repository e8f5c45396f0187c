internal import ArgumentParser

/// The kinds of transfers.
enum TransferKind: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// A form with one file from disk.
    case form
    /// A form to a server that reads nothing for a second and then slowly.
    case sluggishForm
    /// A form that is rejected with a 401 at its end, and replayed with another token.
    case replayedForm
    /// The file alone, from disk.
    case file
    /// `NetworkClient.download` to a file.
    case download
    /// The same download with async-http-client alone, which writes each piece to a file.
    case bareDownload
}

/// The transports that are measured.
enum TransportName: String, CaseIterable, Sendable, ExpressibleByArgument {
    case asyncHTTPClient
    case urlSession
}

/// The measurements of one transfer.
struct Transfer: Codable, Sendable {
    var seconds: Double
    var cpuSeconds: Double
    /// The peak resident memory of the process minus its resident memory after one small request.
    var bytesAboveIdle: Int
}
