internal import Foundation
internal import Martlet
internal import MartletOAuth

/// Drives MartletOAuth against third-party servers, with a browser.
struct OAuthRig: Sendable {
    /// The number of seconds for which processes share a session; 0 to leave that part out.
    let seconds: Int
    let lifetime: Int
    let processes: Int
    let python: String
    let folder: String
    /// The folder for screenshots of the pages.
    let pictures: String?
    /// Runs only the cells whose name contains this text.
    let only: String?
    let isShort: Bool
    let hidesLock: Bool
    let console: Console

    private struct Running: Sendable {
        let kind: OAuthRigServer
        let site: OAuthSite
        let process: InteropProcess
    }

    /// Runs the cells and prints a table.
    /// - Returns: Whether no cell failed.
    func run(_ servers: [OAuthRigServer]) async -> Bool {
        let start = ContinuousClock.now
        var failures: [String] = []
        do {
            let browser = try await RigBrowser(python: python, folder: folder, pictures: pictures)
            for kind in servers where !Task.isCancelled {
                failures += await run(kind, browser)
            }
            await browser.close()
        } catch {
            failures.append("\(error)")
        }
        for failure in failures { console.line(console.paint(failure, .bad)) }
        let time = (ContinuousClock.now - start).formatted(.time(pattern: .minuteSecond))
        if failures.isEmpty { console.line(console.paint("All cells passed, in \(time).", .good)) }
        return failures.isEmpty
    }

    private func run(_ kind: OAuthRigServer, _ browser: RigBrowser) async -> [String] {
        console.line(console.paint(kind.title, .title))
        do {
            let running = try await start(kind)
            var failures: [String] = []
            let cells = OAuthCells.cells(of: kind, running.site)
            for cell in cells where selects(cell) && !Task.isCancelled {
                let result = await run(cell, at: running, browser)
                console.line(row(cell.name, result))
                if case .failed(let reason) = result { failures.append("\(kind.title), \(cell.name): \(reason)") }
            }
            if seconds > 0, let issuer = running.site.shortIssuer, !Task.isCancelled {
                failures += await share(issuer, running, browser)
            }
            await running.process.finish()
            return failures
        } catch {
            return ["\(kind.title): \(error)"]
        }
    }

    private func selects(_ cell: OAuthCell) -> Bool {
        if let only, !cell.name.contains(only) { return false }
        return !isShort || cell.isInShortRun && cell.missing == nil
    }

    private func start(_ kind: OAuthRigServer) async throws -> Running {
        let process = try InteropProcess(python, kind.arguments(in: folder, lifetime: lifetime))
        guard let line = await process.line(),
            let site = try? JSONDecoder().decode(OAuthSite.self, from: Data(line.utf8))
        else {
            await process.finish()
            throw OAuthCellError(description: "the server did not start; see its output above")
        }
        return Running(kind: kind, site: site, process: process)
    }

    private func run(_ cell: OAuthCell, at running: Running, _ browser: RigBrowser) async -> OAuthResult {
        if let missing = cell.missing { return .missing(missing) }
        let start = ContinuousClock.now
        do {
            try await browser.begin(cell.name, at: running.kind, password: running.site.password)
            try await cell.run(OAuthCells(kind: running.kind, site: running.site, browser: browser))
            return .passed(seconds: (ContinuousClock.now - start) / .seconds(1))
        } catch {
            return .failed("\(error)")
        }
    }

    private func row(_ name: String, _ result: OAuthResult) -> String {
        let padding = String(repeating: " ", count: max(1, 26 - name.count))
        let text = "  \(name)\(padding)"
        switch result {
        case .passed: return text + console.paint(result.text, .good)
        case .missing(let reason): return text + console.paint("\(result.text)  (\(reason))", .note)
        case .failed: return text + console.paint(result.text, .bad)
        }
    }

    // MARK: - A session that processes share

    private func share(_ issuer: String, _ running: Running, _ browser: RigBrowser) async -> [String] {
        console.line(
            "  \(processes) processes share a session for \(seconds) s, with access tokens of \(lifetime) s:")
        do {
            let figures = try await figures(issuer, running, browser)
            for line in [InteropFigures.header, figures.row] { console.line("  " + line) }
            return figures.violations.map { "\(running.kind.title), shared session: \($0)" }
        } catch {
            return ["\(running.kind.title), shared session: \(error)"]
        }
    }

    private func figures(
        _ issuer: String, _ running: Running, _ browser: RigBrowser
    ) async throws -> InteropFigures {
        let record = FileManager.default.temporaryDirectory.appending(path: "martlet-oauth-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: record) }
        try FileManager.default.createDirectory(at: record, withIntermediateDirectories: true)
        let store = TortureStore.encrypted.open(in: record.path)
        let site = running.site
        let server = OAuthServer(
            issuer: issuer, client: site.client(site.clients[0]), redirect: .loopback(port: site.loopbackPort))
        let tokens = TokenManager(baseURL: BaseURL(site.api), store: store, oauth: server)
        try await browser.begin("shared", at: running.kind, password: site.password)
        try await server.signIn(to: tokens, scope: ["openid"], with: browser.loopback(port: site.loopbackPort))
        guard let port = URL(string: site.api)?.port else {
            throw OAuthCellError(description: "the API has no port")
        }
        let arguments = ["oauth-worker", issuer, site.api, site.clients[0], record.path, "\(seconds)"]
        return try await SharedSession(
            title: running.kind.title, port: port, lifetime: lifetime, processes: processes,
            arguments: arguments + (hidesLock ? ["--without-lock"] : [])
        ).run(over: store)
    }
}
