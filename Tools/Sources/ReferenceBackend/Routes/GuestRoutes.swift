import NIOCore

extension BackendCore {
    func addGuestRoutes(to table: inout RouteTable) {
        table.add("POST", "/auth/guest/register", registerGuest)
        table.add("GET", "/images/{key}", image)
    }

    /// The allowance for the boundaries, the headers and the name around a picture.
    private static let formOverhead = 64 << 10

    private func registerGuest(_ scope: RequestScope) async throws -> Reply {
        guard let boundary = scope.multipartBoundary else { throw APIError.unsupportedMediaType }
        let limit = configuration.maxImageBytes + Self.formOverhead
        try scope.refuseAnnouncedBody(over: limit)
        var form = GuestForm(maxImageBytes: configuration.maxImageBytes)
        try await scope.readMultipart(boundary: boundary, upTo: limit) { try form.take($0) }

        let image = form.image.map { picture in
            ImageRecord(
                key: RandomBytes.identifier(), contentType: picture.contentType,
                bytes: Array(picture.bytes.readableBytesView))
        }
        let guest = UserRecord(
            id: RandomBytes.identifier(), name: try form.validName(), isGuest: true, email: nil, passwordHash: nil,
            imageKey: image?.key, createdAt: state.now)
        try await store.insert(guest, image: image)
        state.count { $0.guestRegistrations += 1 }
        return sessionReply(try await sessions.open(for: guest), .registered, scope)
    }

    private func image(_ scope: RequestScope) async throws -> Reply {
        guard let image = try await store.image(key: try scope.parameter("key")) else { throw APIError.notFound }
        return .bytes(ByteBuffer(bytes: image.bytes), contentType: image.contentType)
    }
}

/// The form of a guest registration, filled from parser events.
private struct GuestForm {
    struct Picture {
        var contentType: String
        var bytes = ByteBuffer()
    }

    let maxImageBytes: Int
    private(set) var image: Picture?
    private var name = ByteBuffer()
    private var current: String?

    static let maximumNameLength = 100

    init(maxImageBytes: Int) {
        self.maxImageBytes = maxImageBytes
    }

    mutating func take(_ event: MultipartParser.Event) throws {
        switch event {
        case .partBegan(let headers): try begin(headers)
        case .content(let bytes): try append(bytes)
        case .partEnded: current = nil
        }
    }

    private mutating func begin(_ headers: MultipartHeaders) throws {
        current = headers.name
        guard headers.name == "image" else { return }
        guard let contentType = headers.contentType, contentType.hasPrefix("image/") else {
            throw APIError.unsupportedMediaType
        }
        image = Picture(contentType: contentType)
    }

    private mutating func append(_ bytes: ByteBuffer) throws {
        var bytes = bytes
        switch current {
        case "name": name.writeBuffer(&bytes)
        case "image":
            image?.bytes.writeBuffer(&bytes)
            if let image, image.bytes.readableBytes > maxImageBytes { throw APIError.tooLarge(limit: maxImageBytes) }
        default: break
        }
    }

    func validName() throws -> String {
        let name = String(buffer: name).trimmingBlanks
        guard (1...Self.maximumNameLength).contains(name.count) else {
            let message = "A name must have between 1 and \(Self.maximumNameLength) characters."
            throw APIError.invalid([APIError.Field(name: "name", message: message)])
        }
        return name
    }
}
