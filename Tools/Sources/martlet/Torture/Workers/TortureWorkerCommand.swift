internal import ArgumentParser
internal import Foundation

/// `martlet torture-worker`: a process that `martlet torture` starts.
struct TortureWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture-worker", abstract: "A process that torture starts.", shouldDisplay: false)

    @Argument(help: "The worker's configuration as JSON.")
    var configuration: String

    func run() async throws {
        let worker = try TortureWorker(
            JSONDecoder().decode(WorkerConfiguration.self, from: Data(configuration.utf8)))
        let instructions = Self.instructions()
        await worker.begin()
        try Self.send(.ready)
        for await instruction in instructions { try Self.send(await worker.execute(instruction)) }
    }

    private static func send(_ report: WorkerReport) throws {
        try FileHandle.standardOutput.write(contentsOf: try JSONEncoder().encode(report) + Data("\n".utf8))
    }

    private static func instructions() -> AsyncStream<WorkerInstruction> {
        AsyncStream { continuation in
            // A thread of its own, because `readLine` blocks.
            Thread.detachNewThread {
                let decoder = JSONDecoder()
                while let line = readLine() {
                    guard let instruction = try? decoder.decode(WorkerInstruction.self, from: Data(line.utf8)) else {
                        break
                    }
                    continuation.yield(instruction)
                }
                // The parent has closed the pipe or exited, so no result is needed anymore.
                _exit(0)
            }
        }
    }
}
