/// The `iat` and `exp` claims of a JWT.
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

    /// The instant from which a token is rejected. Claims in whole seconds have lost a fraction, so the second of
    /// expiry is still accepted: a token may live slightly longer than stated, never shorter.
    static func end(issuedAt: JSONValue, expiry: JSONValue) -> Timestamp? {
        guard let issuedAt = issuedAt.doubleValue, let expiry = expiry.doubleValue else { return nil }
        // Larger values are milliseconds: in seconds they would be beyond the year 5138.
        if expiry >= 1e11 { return Timestamp(milliseconds: Int64(expiry)) }
        let isRounded = expiry == expiry.rounded() && expiry > issuedAt
        return Timestamp(milliseconds: Int64((isRounded ? expiry + 1 : expiry) * 1000))
    }
}
