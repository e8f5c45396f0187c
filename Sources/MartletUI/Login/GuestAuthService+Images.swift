public import Martlet
public import MartletGuests
public import MartletImages

extension GuestAuthService {
    /// Prepares a picture, registers a guest with it and signs the guest in.
    ///
    /// A call during a registration joins it and returns the same guest, so a double tap creates one guest.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - image: The guest's picture.
    ///   - processor: Prepares the picture for upload.
    ///   - monitor: Receives the upload progress. If this call joins a running registration, the monitor receives
    ///     nothing.
    /// - Returns: The guest, once the session has been stored.
    /// - Throws: `NetworkError`. If the picture cannot be prepared, `.invalidRequest` with the description of the
    ///   `ImageError`. A cancelled caller gets `.cancelled`; the registration continues for the other callers and is
    ///   cancelled with the last one.
    @discardableResult
    public func register(
        name: String, image: ImageSource, processor: ImageProcessor = ImageProcessor(), monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Guest {
        try await register(name: name, monitor: monitor) { () throws(InvalidRequestError) -> Picture? in
            do throws(ImageError) {
                let prepared = try await processor.prepare(image)
                let filename = prepared.filename(for: image.filename)
                return .data(prepared.data, filename: filename, contentType: prepared.contentType)
            } catch {
                throw InvalidRequestError(error.description)
            }
        }
    }
}
