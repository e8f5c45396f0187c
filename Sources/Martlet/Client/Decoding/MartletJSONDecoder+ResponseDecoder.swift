public import MartletJSON

/// Makes the faster decoder of the product MartletJSON usable as ``NetworkConfig/decoder``.
///
/// If the app has set no strategy for dates, a client reads them as `JSONDecoder.martlet` does.
extension MartletJSONDecoder: ResponseDecoder {
    /// The decoder with the client's default date strategy, unless the app has set one.
    var withDefaultDateStrategy: MartletJSONDecoder {
        guard !hasDateStrategy else { return self }
        var decoder = self
        decoder.dateDecodingStrategy = .iso8601OptionalFraction
        return decoder
    }
}
