import Foundation
import Testing

@testable import MartletImages

@Suite("Image I/O", .timeLimit(.minutes(10)))
struct PictureStatusTests {
    @Test("reads the folder of the fixtures")
    func folder() {
        #expect(Fixtures.all.count > 35)
    }

    @Test("calls a whole picture complete, before and after drawing it", arguments: Fixtures.all)
    func whole(name: String) throws {
        let source = try #require(ImageIOCodec().calls.open(try Fixtures.data(name)))
        let index = source.primaryIndex()
        #expect(source.status() == .complete)
        #expect(source.imageStatus(index) == .complete)
        let size = try #require(source.properties(index)).size
        let drawn = try #require(source.draw(index, max(size.width, size.height)))
        #expect(drawn.size == size)
        #expect(source.status() == .complete)
        #expect(source.imageStatus(index) == .complete)
    }

    // The prediction is that one of the statuses or the end of the file tells, for each format.
    @Test("or the end of the file tells that a picture is cut in half", arguments: Fixtures.all)
    func half(name: String) throws {
        let whole = try Fixtures.data(name)
        let kind = try #require(ImageKind(of: whole))
        #expect(throws: ImageError.self) {
            let picture = try ImageIOPicture(Data(whole.prefix(whole.count / 2)), kind, ImageIOCodec().calls)
            let size = picture.properties.size
            _ = try picture.draw(longestSide: max(size.width, size.height))
        }
    }

    @Test("counts the frames of an animation", arguments: Fixtures.animated)
    func animations(name: String) throws {
        let source = try #require(ImageIOCodec().calls.open(try Fixtures.data(name)))
        #expect(source.count() > 1)
    }

    @Test("lets every fixture be prepared for an upload", arguments: Fixtures.all)
    func preparation(name: String) async throws {
        let image = try await ImageProcessor().prepare(.file(at: Fixtures.path(name)))
        let source = try #require(ImageIOCodec().calls.open(image.data))
        #expect(source.imageStatus(0) == .complete)
    }

    @Test("writes JPEG and PNG")
    func writableTypes() {
        let types = ImageIOCodec().calls.writableTypes()
        #expect(types.contains("public.jpeg") && types.contains("public.png"))
    }
}
