public import Martlet

extension MultipartForm {
    /// Adds a prepared picture.
    /// - Parameters:
    ///   - image: The picture.
    ///   - name: The field's name.
    ///   - filename: The filename for the server. Its extension is replaced with that of the picture's format. If
    ///     `nil`, `image.jpg` or the equivalent for the format.
    public mutating func append(_ image: PreparedImage, named name: String, filename: String? = nil) {
        append(image.data, named: name, filename: image.filename(for: filename), contentType: image.contentType)
    }
}

extension RequestBody {
    /// Prepares a picture and returns a form that contains text fields, followed by the picture.
    ///
    /// ```swift
    /// let body = try await RequestBody.multipart(image: .file(at: path), named: "avatar", fields: ["alt": "Me"])
    /// try await client.send(Call<NoContent>.post("/me/avatar", body))
    /// ```
    /// - Parameters:
    ///   - image: The picture.
    ///   - name: The name of the picture's field.
    ///   - filename: The filename for the server. Its extension is replaced with that of the picture's format. If
    ///     `nil`, the name of the source file; for data in memory, `image.jpg` or the equivalent for the format.
    ///   - fields: The names and values of the text fields, in order.
    ///   - processor: Prepares the picture for upload.
    /// - Throws: ``ImageError``.
    public static func multipart(
        image: ImageSource, named name: String, filename: String? = nil,
        fields: KeyValuePairs<String, String> = [:], processor: ImageProcessor = ImageProcessor()
    ) async throws(ImageError) -> RequestBody {
        let prepared = try await processor.prepare(image)
        var form = MultipartForm()
        for (field, value) in fields { form.append(value, named: field) }
        form.append(prepared, named: name, filename: filename ?? image.filename)
        return .multipart(form)
    }
}

extension ImageSource {
    /// The name of the source file; `nil` for data in memory.
    package var filename: String? {
        if case .file(let path) = self { path.split(separator: "/").last.map(String.init) } else { nil }
    }
}
