internal import Foundation
internal import NIOConcurrencyHelpers

/// A worker as seen from the torture.
final class WorkerProcess: Sendable {
    let name: WorkerName
    private let pid: Int32
    private let input: Int32
    private let reports: AsyncStream<WorkerReport>
    private let end: AsyncStream<Never>
    private let isGone: NIOLockedValueBox<Bool>

    /// Starts a worker: this very program, told to be one.
    init(_ brief: WorkerBrief) throws {
        let argument = String(decoding: try JSONEncoder().encode(brief), as: UTF8.self)
        let started = try Self.program.spawn(["torture-worker", argument])
        let (end, ending) = AsyncStream<Never>.makeStream()
        let isGone = NIOLockedValueBox(false)
        name = brief.name
        pid = started.pid
        input = started.input
        reports = Self.reports(from: started.output) { [pid = started.pid] in
            // Its number is its own until it has been waited for.
            isGone.withLockedValue { isGone in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                isGone = true
            }
            ending.finish()
        }
        self.end = end
        self.isGone = isGone
    }

    deinit {
        close(input)
    }

    var isAlive: Bool { !isGone.withLockedValue { $0 } }

    func send(_ order: WorkerOrder) {
        guard var line = try? JSONEncoder().encode(order) else { return }
        line.append(UInt8(ascii: "\n"))
        // A worker that is dead does not take it, and whoever waits for its report will see that.
        _ = line.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    /// The next report; `nil` once the worker is dead.
    func report() async -> WorkerReport? {
        for await report in reports { return report }
        return nil
    }

    /// Sends a signal, unless the process is gone and its number may be another's.
    func signal(_ number: Int32) {
        isGone.withLockedValue { if !$0 { kill(pid, number) } }
    }

    func waitUntilGone() async {
        for await _ in end {}
    }

    /// What comes until the worker's end, which a thread waits for.
    private static func reports(
        from output: Int32, then end: @escaping @Sendable () -> Void
    ) -> AsyncStream<WorkerReport> {
        let (reports, reporting) = AsyncStream<WorkerReport>.makeStream()
        Thread.detachNewThread {
            let decoder = JSONDecoder()
            var text = Data()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for line in text.takeLines(with: buffer.prefix(count)) {
                    if let report = try? decoder.decode(WorkerReport.self, from: line) { reporting.yield(report) }
                }
            }
            close(output)
            end()
            reporting.finish()
        }
        return reports
    }

    private static var program: Program {
        Program(path: Bundle.main.executablePath ?? CommandLine.arguments[0])
    }
}

extension Data {
    /// Appends bytes and cuts off the lines that are whole now.
    fileprivate mutating func takeLines(with bytes: ArraySlice<UInt8>) -> [Data] {
        append(contentsOf: bytes)
        var lines: [Data] = []
        while let end = firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Data(self[startIndex..<end]))
            self = Data(self[index(after: end)...])
        }
        return lines
    }
}
