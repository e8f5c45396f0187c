extension RequestBody {
    /// A form with fields and files (`multipart/form-data`, RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(
            contentType: form.contentType, isReplayable: form.isReplayable,
            source: .stream { try form.outgoing() }, measure: { (try? form.contentLength()) ?? nil },
            inspectsFiles: form.hasFiles)
    }
}
