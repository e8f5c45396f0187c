public import Martlet

extension MultipartForm {
    /// Adds a picture that is ready to be sent.
    /// - Parameters:
    ///   - image: The picture.
    ///   - name: The field's name.
    ///   - filename: What the server is to call the file; its extension becomes that of the picture's format. `image.jpg` or
    ///     the like where `nil`.
    public mutating func append(_ image: PreparedImage, named name: String, filename: String? = nil) {
        append(image.data, named: name, filename: image.filename(for: filename), contentType: image.contentType)
    }
}

extension RequestBody {
    /// Prepares a picture and puts it into a form, behind fields of text: the body of an upload in one call.
    ///
    /// ```swift
    /// let body = try await RequestBody.multipart(image: .file(at: path), named: "avatar", fields: ["alt": "Me"])
    /// try await client.send(Call<Empty>.post("/me/avatar", body))
    /// ```
    /// - Parameters:
    ///   - image: The picture.
    ///   - name: The field that has the picture.
    ///   - filename: What the server is to call the file; its extension becomes that of the picture's format. For a file its
    ///     own name where `nil`.
    ///   - fields: Names and values, in the order in which they are sent.
    ///   - processor: Prepares the picture.
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
    /// The name of its file, if it has one.
    var filename: String? {
        if case .file(let path) = self { path.split(separator: "/").last.map(String.init) } else { nil }
    }
}
