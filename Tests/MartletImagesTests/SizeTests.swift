import Testing

@testable import MartletImages

@Suite("Fitting a size", .timeLimit(.minutes(10)))
struct SizeTests {
    @Test(
        "a fitted size keeps its aspect ratio and never grows",
        arguments: [
            ([4032, 3024], [1024, 1024], [1024, 768]), ([3024, 4032], [1024, 1024], [768, 1024]),
            ([20_000, 10], [1024, 1024], [1024, 1]), ([10, 20_000], [1024, 1024], [1, 1024]),
            ([1, 1], [1024, 1024], [1, 1]), ([1000, 500], [1024, 1024], [1000, 500]),
            ([1025, 1024], [1024, 1024], [1024, 1023]), ([400, 300], [100, 50], [67, 50]),
        ]
    )
    func fits(size: [Int], bounds: [Int], expected: [Int]) {
        let fitted = PixelSize(width: size[0], height: size[1]).fitted(
            in: PixelSize(width: bounds[0], height: bounds[1]))
        #expect(fitted == PixelSize(width: expected[0], height: expected[1]))
    }
}
