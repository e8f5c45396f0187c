extension NetworkConfig {
    /// The remaining life of the token is not checked for uploads up to this duration, unless the body is single-use.
    private static let briefUploadLimit: Duration = .seconds(1)

    /// The estimated duration of an upload, for which the token must last; `nil` if the upload is brief.
    func transferTime(of body: PreparedBody) -> Duration? {
        guard let length = body.length else { return assumedUploadDuration }
        let rate = uploadBytesPerSecond > 0 ? uploadBytesPerSecond : 1
        // A cap well within the range of `Duration`, and far beyond the lifetime of any token.
        let time = Duration.seconds(min(Double(length) / rate, 1e9))
        return time > Self.briefUploadLimit ? time : (body.isReplayable ? nil : Self.briefUploadLimit)
    }

    /// Whether the server is asked with `Expect: 100-continue` before the body is sent.
    func expectsContinue(_ body: PreparedBody) -> Bool {
        guard let expectContinueThreshold, body.isReplayable else { return false }
        return body.length.map { $0 >= expectContinueThreshold } ?? true
    }
}
