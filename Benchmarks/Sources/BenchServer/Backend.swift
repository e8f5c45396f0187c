/// The state of the server: its tokens, its pages and its counters.
struct Backend {
    /// The number of accepted and rejected requests for pages, and of refreshes.
    struct Counters {
        var accepted = 0
        var refused = 0
        var refreshes = 0
    }

    private(set) var counters = Counters()
    /// Increases whenever the access token is replaced or expires.
    private var generation = 0
    /// The number of the valid refresh token.
    private var rotation = 0
    private let pages: [String] = (0..<64).map { Self.makePage($0) }

    /// Returns a page, or `nil` if the access token is not valid.
    mutating func page(_ number: Int, authorization: String?) -> String? {
        guard authorization == "Bearer \(Self.token("access", generation))" else {
            counters.refused += 1
            return nil
        }
        counters.accepted += 1
        return pages[number % pages.count]
    }

    /// Exchanges the refresh token, which is valid once, for a new pair. Returns `nil` if it is not valid.
    mutating func refresh(body: String) -> String? {
        counters.refreshes += 1
        guard body.contains(Self.token("refresh", rotation)) else { return nil }
        rotation += 1
        generation += 1
        return pair
    }

    /// Invalidates the access token only.
    mutating func expire() {
        generation += 1
    }

    /// The current tokens as JSON.
    var pair: String {
        """
        {"accessToken":"\(Self.token("access", generation))",\
        "refreshToken":"\(Self.token("refresh", rotation))","expiresIn":3600}
        """
    }

    /// A token with the length of a small JWT, for a realistic size of the header field.
    private static func token(_ kind: String, _ number: Int) -> String {
        let name = "\(kind)-\(number)-"
        return name + String(repeating: "x", count: 256 - name.utf8.count)
    }

    /// About 1 KB of JSON with twenty small objects.
    private static func makePage(_ number: Int) -> String {
        let items = (0..<20).map { index in
            #"{"id":\#(number * 20 + index),"name":"Item \#(index)","price":\#(index).25,"inStock":true}"#
        }
        return #"{"page":\#(number),"items":[\#(items.joined(separator: ","))]}"#
    }
}
