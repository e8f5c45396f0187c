import Testing

@testable import MartletCommand

@Suite("Formatted figures", .timeLimit(.minutes(10))) struct FiguresTests {
    @Test(
        "Commas separate groups of three digits",
        arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (70_562, "70,562"), (-1_002_003, "-1,002,003")])
    func grouped(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test("A duration is in milliseconds or seconds", arguments: [(0, "0 ms"), (999, "999 ms"), (1250, "1.2 s")])
    func duration(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).readable == text)
    }
}
