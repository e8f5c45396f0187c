import ArgumentParser
import Foundation
import MartletJSON

/// `martlet-bench-json`: compares the two decoders in one process.
@main
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-bench-json",
        abstract: "Compares MartletJSONDecoder with Foundation's JSONDecoder.",
        discussion: """
            The decoders take turns, so that other load slows down both. A row has the time of a document for each decoder \
            and the ratio: the median of all rounds. The last rows have the memory of a document of 10 MB.
            """)

    @Option(help: "The number of rounds.")
    var rounds = 15

    @Option(help: "Run the rows whose name contains this text only.")
    var only = ""

    @Option(help: "Decode with Martlet this many times without printing, for use with a profiler.")
    var profile = 0

    @Option(help: .hidden)
    var memoryOf: String?

    func run() throws {
        if let memoryOf { return try memory(memoryOf) }
        print("document".padded(44) + "JSONDecoder".leading(14) + "Martlet".leading(14) + "ratio".leading(8))
        var martlet = MartletJSONDecoder()
        let foundation = JSONDecoder()
        martlet.dateDecodingStrategy = .iso8601
        foundation.dateDecodingStrategy = .iso8601
        let account = Data(Documents.account(1).utf8)
        try compare("a struct of 20 fields", Account.self, account, foundation, martlet)
        try compare("an array of structs", [Account].self, Documents.accounts(bytes: 200_000), foundation, martlet)
        try compare("strings, escapes, Unicode", [Text].self, Documents.texts(bytes: 200_000), foundation, martlet)
        try compare("numbers", [Measurement].self, Documents.measurements(bytes: 200_000), foundation, martlet)
        try compare("dates (ISO 8601)", [Event].self, Documents.events(bytes: 100_000), foundation, martlet)
        martlet.dateDecodingStrategy = .secondsSince1970
        foundation.dateDecodingStrategy = .secondsSince1970
        let seconds = Data("[\((0..<5_000).map { "\(1_767_225_599 + $0 * 61)" }.joined(separator: ","))]".utf8)
        try compare("dates (seconds)", [Date].self, seconds, foundation, martlet)
        try compare("10 MB of structs", [Account].self, Documents.accounts(bytes: 10_000_000), foundation, martlet)
        guard only.isEmpty || "memory".contains(only), profile == 0 else { return }
        print("")
        // Use a separate process, so that memory that the other decoder has released does not count.
        for name in ["JSONDecoder", "Martlet"] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--memory-of", name]
            try process.run()
            process.waitUntilExit()
        }
    }

    private func compare<Value: Decodable>(
        _ name: String, _ type: Value.Type, _ data: Data, _ foundation: JSONDecoder, _ martlet: MartletJSONDecoder
    ) throws {
        guard only.isEmpty || name.contains(only) else { return }
        for _ in 0..<profile { _ = try martlet.decode(type, from: data) }
        if profile > 0 { return }
        let repetitions = max(1, 300_000 / data.count)
        var times: [(Double, Double)] = []
        for _ in 0..<rounds {
            let first = try seconds(repetitions) { _ = try foundation.decode(type, from: data) }
            let second = try seconds(repetitions * 4) { _ = try martlet.decode(type, from: data) }
            times.append((first / Double(repetitions), second / Double(repetitions * 4)))
        }
        let ratio = times.map { $0.0 / $0.1 }.sorted()[rounds / 2]
        let (first, second) = (times.map(\.0).sorted()[rounds / 2], times.map(\.1).sorted()[rounds / 2])
        let row = "\(name) (\(data.count) bytes)".padded(44) + microseconds(first) + microseconds(second)
        print(row + String(format: "%.1f", ratio).leading(8))
    }

    private func seconds(_ repetitions: Int, _ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        for _ in 0..<repetitions { try body() }
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private func microseconds(_ seconds: Double) -> String { String(format: "%.2f µs", seconds * 1e6).leading(14) }

    /// Prints the peak memory of the process while it decodes, and its memory afterwards with the decoded value. Linux
    /// only.
    private func memory(_ name: String) throws {
        let data = Documents.accounts(bytes: 10_000_000)
        let before = status("VmRSS")
        // Reset the peak.
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let value =
            name == "Martlet"
            ? try MartletJSONDecoder().decode([Account].self, from: data)
            : try JSONDecoder().decode([Account].self, from: data)
        let (peak, after) = (status("VmHWM") - before, status("VmRSS") - before)
        print("\(name): \(peak) KB at most while it decodes \(data.count / 1_000) KB;")
        print("    \(after) KB afterwards, with \(value.count) structs")
    }

    private func status(_ field: String) -> Int {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix(field + ":") } ?? ""
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func leading(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
