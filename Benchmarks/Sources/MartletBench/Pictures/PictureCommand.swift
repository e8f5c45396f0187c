internal import ArgumentParser
internal import Foundation
internal import MartletImages

/// Prepares one picture in a process of its own. ``Pictures`` starts it and parses its output.
struct PictureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "picture", shouldDisplay: false)

    @Argument var path: String

    func run() async throws {
        let processor = ImageProcessor(.init())
        let idle = Usage.residentBytes
        let before = Usage.now()
        let start = ContinuousClock.now
        let image = try await processor.prepare(.file(at: path))
        let wall = start.duration(to: .now)
        guard image.size.width == 1024 || image.size.height == 1024, !image.data.isEmpty else {
            throw UnexpectedResponseError()
        }
        let result = Transfer(
            seconds: wall.inSeconds, cpuSeconds: Usage.now().cpuSeconds - before.cpuSeconds,
            bytesAboveIdle: Usage.peakBytes - idle)
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }
}
