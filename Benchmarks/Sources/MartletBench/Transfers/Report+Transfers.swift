extension Report {
    /// The memory limit above an idle process, in megabytes.
    private static let maximumMegabytes = 16.0
    private static let maximumWallOfCurl = 1.5
    private static let minimumThroughput = 0.95

    func show(_ transfers: Transfers) {
        showUploads(transfers)
        showDownloads(transfers)
    }

    private func showUploads(_ transfers: Transfers) {
        var rows: [[String]] = []
        if !transfers.curl.isEmpty { rows.append(["curl -F", transfers.curl.median.formatted(2), "", ""]) }
        for (transport, uploads) in transfers.inOrder {
            rows.append(row("\(transport.title), form", uploads.form))
            rows.append(row("\(transport.title), bare file", uploads.file))
            rows.append(row("\(transport.title), form, sent twice because of a 401 at its end", uploads.replayed))
            rows.append(
                row("\(transport.title), form, \(megabytes(transfers.sluggishSize)) to a slow reader", uploads.sluggish)
            )
        }
        table(
            "\(megabytes(transfers.size)) as multipart/form-data from disk, each in its own process",
            ["", "wall s", "CPU s", "peak MB above idle"], rows)
        for (transport, uploads) in transfers.inOrder {
            verdict(
                "\(transport.title): at most \(Self.maximumMegabytes.formatted(0)) MB above idle",
                Double(uploads.bytesAboveIdle) / 1e6, isMet: { $0 <= Self.maximumMegabytes })
            verdict(
                "\(transport.title): at least \(Self.minimumThroughput.formatted(2)) of the bare file's throughput",
                uploads.throughput.median, isMet: { $0 >= Self.minimumThroughput })
        }
        let wall = "at most \(Self.maximumWallOfCurl.formatted(1)) times the wall time of curl -F"
        if transfers.curl.isEmpty {
            missing("curl", packages: "curl", for: wall)
        } else {
            verdict(
                "\(TransportName.asyncHTTPClient.title): \(wall)", transfers.wallOfCurl.median,
                isMet: { $0 <= Self.maximumWallOfCurl })
        }
        print()
    }

    private func showDownloads(_ transfers: Transfers) {
        table(
            "\(megabytes(transfers.size)) download to a file, each in its own process",
            ["", "wall s", "CPU s", "peak MB above idle"],
            [
                row("NetworkClient.download", transfers.download),
                row("bare async-http-client, writing each piece", transfers.bareDownload),
            ])
        verdict(
            "at most \(Self.maximumMegabytes.formatted(0)) MB above idle",
            Double(transfers.download.map(\.bytesAboveIdle).max() ?? 0) / 1e6, isMet: { $0 <= Self.maximumMegabytes })
        verdict(
            "at least \(Self.minimumThroughput.formatted(2)) of the bare transport's throughput",
            transfers.downloadThroughput.median, isMet: { $0 >= Self.minimumThroughput })
        print()
    }

    private func row(_ title: String, _ transfers: [Transfer]) -> [String] {
        [
            title, transfers.map(\.seconds).median.formatted(2), transfers.map(\.cpuSeconds).median.formatted(2),
            (Double(transfers.map(\.bytesAboveIdle).max() ?? 0) / 1e6).formatted(1),
        ]
    }

    private func megabytes(_ bytes: Int) -> String {
        bytes >= 1_000_000_000 ? "\((Double(bytes) / 1e9).formatted(0)) GB" : "\(bytes / 1_000_000) MB"
    }
}

extension Transfers {
    fileprivate var inOrder: [(TransportName, Uploads)] {
        TransportName.allCases.compactMap { name in uploads[name].map { (name, $0) } }
    }
}

extension TransportName {
    fileprivate var title: String {
        switch self {
        case .asyncHTTPClient: "AsyncHTTPClientTransport"
        case .urlSession: "URLSessionTransport"
        }
    }
}
