extension DownloadReceiver {
    /// The state of a download: the part of the file that is written, and the range that the current attempt requested.
    struct State {
        /// The number of the current attempt.
        var attempt = 0
        var file: IncomingFile?
        /// The number of bytes in the file.
        var written: Int64 = 0
        /// The data for a request for the rest; `nil` if the next attempt must start from the beginning.
        var resumption: PartialDownload.ResumeData?
        /// The position from which the current attempt asked for the rest; `nil` if it asked for the whole file.
        var requestedOffset: Int64?
        var endpointSetsRange = false
        /// Whether the next attempt must request the whole file: the server's response does not continue the kept
        /// bytes, or they belong to other credentials.
        var mustRestart = false
        /// The fingerprint of the credentials of the current attempt; `nil` if the account alone identifies the owner
        /// of the bytes.
        var credentials: String?
        /// Whether an attempt with other credentials has added to the bytes of an earlier one. They then belong to
        /// neither, and no later call resumes them.
        var hasMixedCredentials = false
        /// The number of bytes that an earlier call had kept.
        var resumedBytes: Int64 = 0
        /// Whether the bytes are kept if the call fails.
        var keepsPartial = false
        /// Whether the kept bytes belong to this call, which may then delete them.
        var mayDeletePartial = false
        #if canImport(CryptoKit) || Encryption
            var digest: RunningDigest?
        #endif
    }
}
