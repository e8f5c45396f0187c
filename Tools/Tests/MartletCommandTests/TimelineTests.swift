import Martlet
import Testing

@testable import MartletCommand

@Suite("Timeline", .timeLimit(.minutes(10))) struct TimelineTests {
    private func timeline(_ content: Timeline.Content, to end: Int = 100) -> Timeline {
        Timeline(period: .zero...(.milliseconds(end)), lanes: [Timeline.Lane("lane", content)])
    }

    @Test("The height of a column shows how many moments it contains") func moments() {
        let moments = [5, 5, 5, 5, 45, 45, 95].map { Duration.milliseconds($0) }
        let rows = timeline(.moments(moments)).rows(columns: 10)
        #expect(rows == [Timeline.Row(name: "lane", plot: "█   ▄    ▂", count: 7)])
    }

    @Test("The start of a period is marked, even directly after another period") func spans() {
        let spans = [(0, 30), (40, 69), (70, 100)].map {
            Duration.milliseconds($0.0)...Duration.milliseconds($0.1)
        }
        #expect(timeline(.spans(spans)).rows(columns: 10).map(\.plot) == ["┣━━━┣━━┣━━"])
    }

    @Test("A period shorter than a column is visible") func shortSpan() {
        let span = Duration.milliseconds(51)...Duration.milliseconds(52)
        #expect(timeline(.spans([span])).rows(columns: 10).map(\.plot) == ["     ◆    "])
    }

    @Test("Events outside of the period are omitted, and spans are clipped to it") func period() {
        let period = Duration.milliseconds(100)...Duration.milliseconds(200)
        let timeline = Timeline(
            period: period,
            lanes: [
                Timeline.Lane("moments", .moments([.milliseconds(99), .milliseconds(150), .milliseconds(201)])),
                Timeline.Lane(
                    "spans", .spans([.zero...(.milliseconds(119)), .milliseconds(300)...(.milliseconds(400))])),
            ])
        #expect(timeline.rows(columns: 10).map(\.count) == [1, 1])
        #expect(timeline.rows(columns: 10).map(\.plot) == ["     █    ", "┣━        "])
    }

    @Test("The axis has round steps and room between its labels", arguments: [7, 100, 1800, 93_000])
    func axis(total: Int) {
        let axis = timeline(.moments([]), to: total).axis(columns: 60)
        #expect(axis.ticks.count == 60)
        let labels = axis.labels.split(separator: " ")
        #expect(labels.last == "ms")
        let values = labels.dropLast().compactMap { Int($0) }
        #expect(values.count == axis.ticks.count { $0 == "┬" })
        #expect((2...8).contains(values.count))
        #expect(values.first == 0)
        let step = values[1]
        #expect([1, 2, 5].contains(Int(String(String(step).first ?? "0"))))
        #expect(values == (0..<values.count).map { $0 * step })
    }

    @Test("A period of zero length is drawn") func nothing() {
        let timeline = timeline(.moments([.zero]), to: 0)
        #expect(timeline.rows(columns: 4).map(\.plot) == ["█   "])
        #expect(timeline.axis(columns: 4).ticks == "────")
    }
}
