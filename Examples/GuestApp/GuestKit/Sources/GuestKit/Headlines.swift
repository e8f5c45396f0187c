public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The titles of the newest articles, for the widget. They are loaded while the widget does not run, and kept in a
/// file.
public struct Headlines: Sendable {
    /// The content of the widget.
    public enum Content: Sendable, Hashable {
        /// The titles of articles, newest first.
        case titles([String])
        /// The user has to sign in, which is possible in the app.
        case signedOut
        /// The articles have not been loaded yet: a placeholder.
        case loading
        /// The session cannot be read before the device is unlocked.
        case locked
    }

    /// The next step of the widget.
    public struct Plan: Sendable, Hashable {
        /// The content until the next plan.
        public let content: Content
        /// Whether to load the newest articles.
        public let loads: Bool
        /// The time until the next plan, in seconds.
        public let pause: Double
    }

    /// The articles of a session, as of the last load.
    private struct Snapshot: Codable {
        let session: String
        let titles: [String]
        let loadedAt: Date
    }

    /// The part of the server's response that the widget needs.
    private struct Response: Decodable {
        struct Page: Decodable {
            struct Item: Decodable { let title: String }
            let items: [Item]
        }
        let data: Page
    }

    /// The endpoint whose response is given to ``keep(responseAt:)``.
    public static var newest: some APIEndpoint { ArticleEndpoint.newest }

    private let tokens: TokenManager
    private let file: String
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - tokens: The owner of the session in this process.
    ///   - folder: An existing folder that the app and the widget share.
    ///   - now: The time of the device's clock.
    public init(tokens: TokenManager, folder: String, now: @escaping @Sendable () -> Date = { Date() }) {
        self.tokens = tokens
        self.now = now
        file = folder + "/headlines.json"
    }

    /// Decides what to show, from the state of the session.
    public func plan() async -> Plan {
        switch await tokens.restore() {
        case .signedIn(let session):
            let known = snapshot.flatMap { $0.session == session.id.rawValue ? $0 : nil }
            // The end of a load makes WidgetKit ask again at once.
            let age = known.map { now().timeIntervalSince($0.loadedAt) } ?? .infinity
            let isRecent = (0..<25 * 60).contains(age)
            return Plan(content: known.map { .titles($0.titles) } ?? .loading, loads: !isRecent, pause: 30 * 60)
        case .unavailable(let error) where error.kind == .locked:
            // The device has not been unlocked since it started, so nothing can be read. The user is not signed out:
            // the widget keeps showing its content, and deletes nothing. WidgetKit asks again later.
            return Plan(content: snapshot.map { .titles($0.titles) } ?? .locked, loads: false, pause: 15 * 60)
        case .loading, .unavailable:
            return Plan(content: snapshot.map { .titles($0.titles) } ?? .loading, loads: false, pause: 15 * 60)
        case .signedOut, .expired, .unreadable:
            // Another user may sign in.
            try? FileManager.default.removeItem(atPath: file)
            return Plan(content: .signedOut, loads: false, pause: 60 * 60)
        }
    }

    /// Keeps the titles of a response that was downloaded to a file for the current user.
    public func keep(responseAt path: String) throws {
        guard case .signedIn(let session) = tokens.state else { return }
        let response = try JSONDecoder().decode(Response.self, from: Data(contentsOf: URL(filePath: path)))
        let snapshot = Snapshot(
            session: session.id.rawValue, titles: response.data.items.map(\.title), loadedAt: now())
        try JSONEncoder().encode(snapshot).write(to: URL(filePath: file), options: .atomic)
    }

    /// `nil` if there is none, or if it cannot be read before the device is unlocked.
    private var snapshot: Snapshot? {
        try? JSONDecoder().decode(Snapshot.self, from: Data(contentsOf: URL(filePath: file)))
    }
}
