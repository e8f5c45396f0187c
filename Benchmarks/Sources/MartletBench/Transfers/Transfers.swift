internal import Foundation

/// Measures large uploads and downloads, each in a process of its own.
struct Transfers: Sendable {
    /// The size of the file in bytes, and that of the file for the sluggish server.
    var size: Int
    var sluggishSize: Int
    /// The measurements in the order of the rounds. Entries of different lists with the same index are neighbors in
    /// time.
    var curl: [Double] = []
    var uploads: [TransportName: Uploads] = [:]
    var download: [Transfer] = []
    var bareDownload: [Transfer] = []

    struct Uploads: Sendable {
        var form: [Transfer] = []
        var file: [Transfer] = []
        var sluggish: [Transfer] = []
        var replayed: [Transfer] = []

        /// The throughput of the form relative to the file alone.
        var throughput: [Double] { zip(form, file).map { $1.seconds / $0.seconds } }
        /// The peak memory of all forms.
        var bytesAboveIdle: Int { (form + sluggish + replayed).map(\.bytesAboveIdle).max() ?? 0 }
    }

    /// The wall time of the form over async-http-client, relative to `curl -F`.
    var wallOfCurl: [Double] { zip(uploads[.asyncHTTPClient]?.form ?? [], curl).map { $0.seconds / $1 } }
    /// The throughput of the download relative to the bare transport.
    var downloadThroughput: [Double] { zip(download, bareDownload).map { $1.seconds / $0.seconds } }

    static func run(port: Int, _ effort: Effort) throws -> Transfers {
        let scratch = try Scratch()
        var result = Transfers(
            size: effort.pick(1_000_000, 100_000_000, 1_000_000_000),
            sluggishSize: effort.pick(1 << 20, 8 << 20, 48 << 20))
        let file = try scratch.file("upload", size: result.size)
        let small = try scratch.file("sluggish", size: result.sluggishSize)
        let target = scratch.path("download")
        let curl = Children.path(of: "curl")

        func transfer(_ kind: TransferKind, _ transport: TransportName, _ file: String, _ size: Int) throws -> Transfer
        {
            // A file that is deleted at once is not written to the disk, whose speed is not measured here.
            defer { if file == target { try? FileManager.default.removeItem(atPath: target) } }
            let printed = try Children.run(
                Children.own,
                [
                    "transfer", kind.rawValue, transport.rawValue, "--port", "\(port)", "--file", file, "--size",
                    "\(size)",
                ])
            return try JSONDecoder().decode(Transfer.self, from: printed)
        }
        for transport in TransportName.allCases {
            var uploads = Uploads()
            // URLSession on Linux takes more than ten times as long; the short runs vary more and need more rounds.
            let rounds = transport == .urlSession ? effort.pick(1, 1, 7) : effort.pick(1, 3, 21)
            for round in 0..<rounds {
                if transport == .asyncHTTPClient, let curl {
                    result.curl.append(try Self.curl(curl, file, port))
                }
                // Alternate the order.
                if round.isMultiple(of: 2) {
                    uploads.form.append(try transfer(.form, transport, file, result.size))
                    uploads.file.append(try transfer(.file, transport, file, result.size))
                } else {
                    uploads.file.append(try transfer(.file, transport, file, result.size))
                    uploads.form.append(try transfer(.form, transport, file, result.size))
                }
            }
            uploads.sluggish.append(try transfer(.sluggishForm, transport, small, result.sluggishSize))
            uploads.replayed.append(try transfer(.replayedForm, transport, file, result.size))
            result.uploads[transport] = uploads
        }
        for round in 0..<effort.pick(1, 2, 8) {
            if round.isMultiple(of: 2) {
                result.download.append(try transfer(.download, .asyncHTTPClient, target, result.size))
                result.bareDownload.append(try transfer(.bareDownload, .asyncHTTPClient, target, result.size))
            } else {
                result.bareDownload.append(try transfer(.bareDownload, .asyncHTTPClient, target, result.size))
                result.download.append(try transfer(.download, .asyncHTTPClient, target, result.size))
            }
        }
        return result
    }

    /// Sends the same form with curl. Returns curl's own measurement, which excludes the start of its process.
    private static func curl(_ program: URL, _ file: String, _ port: Int) throws -> Double {
        let printed = try Children.run(
            program,
            [
                "--silent", "--show-error", "--fail", "--noproxy", "*", "--write-out", "\n%{time_total}", "--form",
                "name=Ada", "--form", "file=@\(file)", "http://127.0.0.1:\(port)/upload",
            ])
        let lines = String(decoding: printed, as: UTF8.self).split(separator: "\n")
        guard let seconds = lines.last.flatMap({ Double($0) }) else { throw UnexpectedResponseError() }
        return seconds
    }
}
