internal import Foundation

/// A headless Chromium that signs in as a user would. See `Tools/Interop/browser.py`.
actor RigBrowser {
    /// One visit of the browser, from the page that an app opens to the page that the server redirects it to.
    struct Visit: Sendable, Decodable {
        let url: String
        /// The actions of the user on the server's pages.
        let steps: [String]
        let title: String
    }

    /// The error of a failed visit.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The pages on which a visit acts, by the user's actions there.
    enum Purpose: String, Sendable {
        case signIn = "in"
        case denial = "deny"
        case signOut = "out"
    }

    private struct Order: Encodable {
        var visit: String?
        var until: String?
        var server: String?
        var sign: String?
        var user = "ada"
        var password: String?
        var pictures: String?
        var name: String?
        var forget: Bool?
    }

    private struct Answer: Decodable {
        var failure: String?
    }

    private let process: InteropProcess
    private let pictures: String?
    private var server = OAuthRigServer.glewlwyd
    private var password = ""
    private var name = ""
    /// The most recent visit. Visits run one after another.
    private var latest: Task<Data, any Error>?

    /// - Parameter pictures: The folder for screenshots of the pages. It is created.
    init(python: String, folder: String, pictures: String?) async throws {
        if let pictures {
            try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        }
        self.pictures = pictures
        process = try InteropProcess(python, ["\(folder)/browser.py"])
        guard await process.line() != nil else {
            await process.finish()
            throw Failure(description: "the browser did not start; see its output above")
        }
    }

    /// Deletes the browser's cookies, and names the screenshots of the next visits.
    func begin(_ name: String, at server: OAuthRigServer, password: String) async throws {
        self.server = server
        self.password = password
        self.name = "\(server.rawValue)-" + name.map { $0.isLetter || $0.isNumber ? "\($0)" : "-" }.joined()
        _ = try await send(Order(forget: true)).value
    }

    /// Opens a page, and acts on the server's pages until the browser is redirected to an address.
    /// - Parameter until: The prefix of that address.
    @discardableResult
    func visit(_ url: URL, until: String, to purpose: Purpose = .signIn) async throws -> Visit {
        let order = Order(
            visit: url.absoluteString, until: until, server: server.rawValue, sign: purpose.rawValue,
            password: password, pictures: pictures, name: name)
        return try await JSONDecoder().decode(Visit.self, from: send(order).value)
    }

    /// The most recent visit, once it has ended. An app continues as soon as the callback arrives, which may be
    /// earlier.
    var latestVisit: Visit {
        get async throws {
            guard let latest else { throw Failure(description: "the browser was not opened") }
            return try await JSONDecoder().decode(Visit.self, from: latest.value)
        }
    }

    func close() async {
        _ = try? await latest?.value
        await process.finish()
    }

    private func send(_ order: Order) throws -> Task<Data, any Error> {
        let line = try JSONEncoder().encode(order) + Data("\n".utf8)
        let task = Task { [latest, process] in
            _ = try? await latest?.value
            guard await process.write(line), let text = await process.line() else {
                throw Failure(description: "the browser has ended")
            }
            let answer = Data(text.utf8)
            if let failure = try JSONDecoder().decode(Answer.self, from: answer).failure {
                throw Failure(description: "the browser is \(failure)")
            }
            return answer
        }
        latest = task
        return task
    }
}
