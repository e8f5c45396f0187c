internal import ArgumentParser
internal import Foundation

/// `martlet torture-worker`: one of the processes that `martlet torture` starts.
struct TortureWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture-worker", abstract: "One of the processes that torture starts.", shouldDisplay: false)

    @Argument(help: "What the worker has to know, as JSON.")
    var brief: String

    func run() async throws {
        let worker = TortureWorker(try JSONDecoder().decode(WorkerBrief.self, from: Data(brief.utf8)))
        let orders = Self.orders()
        await worker.begin()
        try Self.say(.ready)
        for await order in orders { try Self.say(await worker.follow(order)) }
    }

    private static func say(_ report: WorkerReport) throws {
        try FileHandle.standardOutput.write(contentsOf: try JSONEncoder().encode(report) + Data("\n".utf8))
    }

    private static func orders() -> AsyncStream<WorkerOrder> {
        AsyncStream { continuation in
            // Reading a line blocks its thread for as long as none comes.
            Thread.detachNewThread {
                let decoder = JSONDecoder()
                while let line = readLine() {
                    guard let order = try? decoder.decode(WorkerOrder.self, from: Data(line.utf8)) else { break }
                    continuation.yield(order)
                }
                // Whoever gave orders is gone, and nothing that is still under way is of use to anybody.
                _exit(0)
            }
        }
    }
}
