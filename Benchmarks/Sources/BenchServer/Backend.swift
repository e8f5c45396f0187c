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
    private let pages: [String] = (0..<64).map { Self.makePage($0, items: 20) }
    /// Pages of other sizes, by their number of items.
    private var otherPages: [Int: String] = [:]

    /// Returns a page, or `nil` if the access token is not valid.
    mutating func page(_ number: Int, authorization: String?) -> String? {
        accepts(authorization) ? pages[number % pages.count] : nil
    }

    /// Returns a page with a number of items, or `nil` if the access token is not valid.
    mutating func page(items: Int, authorization: String?) -> String? {
        guard accepts(authorization) else { return nil }
        let page = otherPages[items] ?? Self.makePage(0, items: items)
        otherPages[items] = page
        return page
    }

    private mutating func accepts(_ authorization: String?) -> Bool {
        let isValid = authorization == "Bearer \(Self.token("access", generation))"
        if isValid { counters.accepted += 1 } else { counters.refused += 1 }
        return isValid
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

    /// JSON with small objects. Twenty of them take 915 bytes.
    private static func makePage(_ number: Int, items count: Int) -> String {
        let items = (0..<count).map { index in
            // Names have one or two letters, so that the page has 915 bytes.
            let name = index % 20 < 6 ? "B" : "A\(index % 10)"
            return #"{"id":\#(10 + (number + index) % 90),"name":"\#(name)","price":\#(index % 10).25,"ok":true}"#
        }
        return #"{"page":\#(10 + number),"items":[\#(items.joined(separator: ","))]}"#
    }
}
