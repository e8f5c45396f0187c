/// Media types by file name and by content, for uploads that name none.
enum MediaType {
    /// What any run of bytes may be called (RFC 2046, section 4.5.1).
    static let unknown = "application/octet-stream"

    /// The media type that the extension of a file name stands for, `application/octet-stream` where it says nothing.
    /// - Parameter name: A name, or a path that ends in one.
    static func forFile(named name: String) -> String {
        forExtension(of: name) ?? unknown
    }

    /// The media type that the extension of a file name stands for, `nil` where there is none or nobody knows it.
    ///
    /// It goes before what the content looks like: an extension is what somebody meant, and it tells apart what begins
    /// alike (documents and archives that are ZIP files, sound and film in one container).
    /// - Parameter name: A name, or a path that ends in one.
    static func forExtension(of name: String) -> String? {
        let last = name.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = last.lastIndex(of: "."), dot > last.startIndex else { return nil }
        return byExtension[last[last.index(after: dot)...].lowercased()]
    }

    private static let byExtension = [
        // Pictures.
        "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "heic": "image/heic", "heif": "image/heif",
        "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg", "jpg": "image/jpeg", "jxl": "image/jxl",
        "png": "image/png", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "webp": "image/webp",
        // Texts. No charset: nobody has looked inside.
        "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "ics": "text/calendar",
        "js": "text/javascript", "log": "text/plain", "md": "text/markdown", "mjs": "text/javascript",
        "txt": "text/plain", "vcf": "text/vcard",
        // Data.
        "bin": unknown, "json": "application/json", "rtf": "application/rtf", "wasm": "application/wasm",
        "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        // Sound and film.
        "aac": "audio/aac", "avi": "video/x-msvideo", "flac": "audio/flac", "m4a": "audio/mp4", "m4v": "video/x-m4v",
        "mkv": "video/matroska", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mpeg": "video/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm",
        // Archives.
        "7z": "application/x-7z-compressed", "bz2": "application/x-bzip2", "gz": "application/gzip",
        "tar": "application/x-tar", "tgz": "application/gzip", "zip": "application/zip", "zst": "application/zstd",
        // Documents.
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odt": "application/vnd.oasis.opendocument.text",
        "pdf": "application/pdf",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ]
}
