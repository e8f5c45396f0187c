/// When a JWT was issued and expires, as its claims say it.
struct TokenTimes {
    let issuedAt: JSONValue
    let expiry: JSONValue

    init(issuedAt now: Timestamp, settings: BackendSettings) {
        let end = now + settings.accessTokenLifetime
        if settings.jwtExpiryInMilliseconds {
            issuedAt = .integer(Int(now.milliseconds))
            expiry = .integer(Int(end.milliseconds))
            return
        }
        let second = now.milliseconds / 1000
        issuedAt = .integer(Int(second))
        if settings.accessTokenLifetime.wholeMilliseconds % 1000 == 0 {
            expiry = .integer(Int(second + settings.accessTokenLifetime.components.seconds))
        } else {
            expiry = .number(Double(end.milliseconds) / 1000)
        }
    }

    /// The instant from which a token is refused. Claims in whole seconds have lost a fraction of the time of issue, so
    /// the second of expiry is still accepted: a token may live a little longer than it says, never shorter.
    static func end(issuedAt: JSONValue, expiry: JSONValue) -> Timestamp? {
        guard let issuedAt = issuedAt.doubleValue, let expiry = expiry.doubleValue else { return nil }
        // No date before 5138 has this many seconds.
        if expiry >= 1e11 { return Timestamp(milliseconds: Int64(expiry)) }
        let isRounded = expiry == expiry.rounded() && expiry > issuedAt
        return Timestamp(milliseconds: Int64((isRounded ? expiry + 1 : expiry) * 1000))
    }
}
