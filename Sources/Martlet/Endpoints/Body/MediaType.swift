/// Guesses the media type of an upload from its file name or its content.
enum MediaType {
    /// The media type of arbitrary bytes (RFC 2046, section 4.5.1).
    static let unknown = "application/octet-stream"

    /// The media type for the extension of a file name, or `application/octet-stream`.
    /// - Parameter name: A file name, or a path that ends in one.
    static func forFile(named name: String) -> String {
        forExtension(of: name) ?? unknown
    }

    /// The media type for the extension of a file name; `nil` if there is no extension or it is unknown.
    ///
    /// The extension has priority over the content: it is explicit, and it distinguishes formats that begin alike, such
    /// as documents and archives that are ZIP files, or audio and video in one container.
    /// - Parameter name: A file name, or a path that ends in one.
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
        // Text. No charset, because the content is not examined.
        "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "ics": "text/calendar",
        "js": "text/javascript", "log": "text/plain", "md": "text/markdown", "mjs": "text/javascript",
        "txt": "text/plain", "vcf": "text/vcard",
        // Data.
        "bin": unknown, "json": "application/json", "rtf": "application/rtf", "wasm": "application/wasm",
        "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        // Audio and video.
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
