public import Martlet
public import MartletGuests
public import MartletImages

extension GuestAuthService {
    /// Prepares a picture, if there is one, registers a guest with it and signs the guest in.
    ///
    /// A call during a registration joins it and returns the same guest, so a double tap creates one guest.
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - image: The guest's picture, such as the one that a screen has let the guest choose; `nil` for none.
    ///   - processor: Prepares the picture for upload.
    ///   - monitor: Receives the upload progress. If this call joins a running registration, the monitor receives
    ///     nothing.
    /// - Returns: The guest, once the session has been stored.
    /// - Throws: `NetworkError`. If the picture cannot be prepared, `.invalidRequest` with the description of the
    ///   `ImageError`. A cancelled caller gets `.cancelled`; the registration continues for the other callers and is
    ///   cancelled with the last one.
    @discardableResult
    public func register(
        name: String, image: ImageSource?, processor: ImageProcessor = ImageProcessor(), monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Guest {
        try await registrationResponse(name: name, image: image, processor: processor, monitor: monitor).value
    }

    /// Registers a guest as ``register(name:image:processor:monitor:)`` does, and returns the guest with the head of
    /// the response and the `code`, `message` and `meta` of its envelope.
    public func registrationResponse(
        name: String, image: ImageSource?, processor: ImageProcessor = ImageProcessor(), monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<Guest> {
        try await registrationResponse(name: name, monitor: monitor) { () throws(InvalidRequestError) -> Picture? in
            guard let image else { return nil }
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
