public import Martlet

extension GuestAuthService {
    /// Prepares a picture, registers a guest with it and starts a session.
    ///
    /// Whoever asks while a guest is being made, its picture included, gets the same guest: a double tap makes one.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - image: The guest's picture.
    ///   - processor: Prepares the picture.
    ///   - monitor: Is told how much of it has gone out. Where a registration is under way already, which this one joins, it
    ///     has nothing to tell.
    /// - Returns: The guest, once the session has been stored.
    /// - Throws: `NetworkError`; `.invalidRequest` with the words of an ``ImageError`` where the picture is of no use. A caller
    ///   that is cancelled gets `.cancelled`, while the registration goes on for whoever else waits for it; it is cancelled
    ///   with the last of them.
    @discardableResult
    public func register(
        name: String, image: ImageSource, processor: ImageProcessor = ImageProcessor(), monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Guest {
        try await register(name: name, monitor: monitor) { () throws(RequestProblem) -> Picture? in
            do throws(ImageError) {
                let prepared = try await processor.prepare(image)
                let filename = prepared.filename(for: image.filename)
                return .data(prepared.data, filename: filename, contentType: prepared.contentType)
            } catch {
                throw RequestProblem(error.description)
            }
        }
    }
}
