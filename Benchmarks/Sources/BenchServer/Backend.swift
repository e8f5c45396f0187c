/// What the server knows: which tokens are good, and what it was asked for.
struct Backend {
    /// Items asked for with the valid token and with another one, and refreshes.
    struct Counters {
        var accepted = 0
        var refused = 0
        var refreshes = 0
    }

    private(set) var counters = Counters()
    /// Counts up whenever the access token dies.
    private var generation = 0
    /// The generation of the refresh token that is good.
    private var rotation = 0
    private let pages: [String] = (0..<64).map { Self.makePage($0) }

    /// One of a few pages, or nothing where the token is not the valid one.
    mutating func page(_ number: Int, authorization: String?) -> String? {
        guard authorization == "Bearer \(Self.token("access", generation))" else {
            counters.refused += 1
            return nil
        }
        counters.accepted += 1
        return pages[number % pages.count]
    }

    /// A new pair for the refresh token, which is good for one time only.
    mutating func refresh(body: String) -> String? {
        counters.refreshes += 1
        guard body.contains(Self.token("refresh", rotation)) else { return nil }
        rotation += 1
        generation += 1
        return pair
    }

    /// Invalidates the access token and nothing else.
    mutating func expire() {
        generation += 1
    }

    /// The tokens as they are now.
    var pair: String {
        """
        {"accessToken":"\(Self.token("access", generation))",\
        "refreshToken":"\(Self.token("refresh", rotation))","expiresIn":3600}
        """
    }

    /// As long as a small JWT, so that the header field costs what it costs in life.
    private static func token(_ kind: String, _ number: Int) -> String {
        let name = "\(kind)-\(number)-"
        return name + String(repeating: "x", count: 256 - name.utf8.count)
    }

    /// About 1 KB of JSON: twenty small structs.
    private static func makePage(_ number: Int) -> String {
        let items = (0..<20).map { index in
            #"{"id":\#(number * 20 + index),"name":"Item \#(index)","price":\#(index).25,"inStock":true}"#
        }
        return #"{"page":\#(number),"items":[\#(items.joined(separator: ","))]}"#
    }
}
