import Foundation

/// A copy of the package in which faults are planted. It is kept, so that the next build compiles little.
struct Workshop {
    private static let switches = "Sources/Martlet/Support/FaultSwitches.swift"

    let source: URL
    let folder: URL
    let traits: [String]

    private var files: FileManager { .default }

    /// The Swift files in a folder of the package, or the file of that path.
    func swiftFiles(in path: String) -> [String] {
        if path.hasSuffix(".swift") { return [path] }
        let found = files.enumerator(atPath: source.appending(path: path).path)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(".swift") }.map { "\(path)/\($0)" }.sorted()
    }

    /// Copies the files that differ, with the switched code of some faults. The numbers of the faults begin at 1.
    func plant(_ faults: [(number: Int, fault: Fault)]) throws {
        let planted = Dictionary(grouping: faults, by: \.fault.code.path)
        var names: Set = ["Package.swift"]
        for top in ["Sources", "Tests"] {
            let found = files.enumerator(atPath: source.appending(path: top).path)?.compactMap { $0 as? String } ?? []
            names.formUnion(found.map { "\(top)/\($0)" })
        }
        for name in names.sorted() {
            var isFolder: ObjCBool = false
            let original = source.appending(path: name)
            guard files.fileExists(atPath: original.path, isDirectory: &isFolder), !isFolder.boolValue else { continue }
            var content = try Data(contentsOf: original)
            for (number, fault) in (planted[name] ?? []).sorted(by: {
                $0.fault.range.lowerBound > $1.fault.range.lowerBound
            }) {
                content.replaceSubrange(fault.range, with: Data(fault.switched(number).code.utf8))
            }
            try write(content, to: name)
        }
        let declarations = """
            internal import MartletLibc
            private let active = getenv("MARTLET_FAULT").flatMap { Int(String(cString: $0)) }
            func isFaulty(_ number: Int) -> Bool { active == number }

            """
        let operators = faults.map { $0.fault.switched($0.number).declaration }.joined(separator: "\n")
        try write(Data((declarations + operators).utf8), to: Self.switches)
        names.insert(Self.switches)
        for top in ["Sources", "Tests"] {
            let found = files.enumerator(atPath: folder.appending(path: top).path)?.compactMap { $0 as? String } ?? []
            for name in found where !names.contains("\(top)/\(name)") {
                try? files.removeItem(at: folder.appending(path: "\(top)/\(name)"))
            }
        }
    }

    private func write(_ content: Data, to name: String) throws {
        let file = folder.appending(path: name)
        guard (try? Data(contentsOf: file)) != content else { return }
        try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file)
    }

    /// Builds the tests, and returns the places of the compiler's errors, or `nil` for a complete build.
    func build() throws -> [(path: String, line: Int)]? {
        let log = folder.appending(path: "build.log")
        var arguments = ["swift", "build", "--build-tests", "--disable-default-traits", "-debug-info-format", "none"]
        if !traits.isEmpty { arguments += ["--traits", traits.joined(separator: ",")] }
        arguments += ["-Xswiftc", "-continue-building-after-errors", "-Xswiftc", "-suppress-warnings"]
        let build = Process()
        build.executableURL = URL(filePath: "/usr/bin/env")
        build.arguments = arguments
        build.currentDirectoryURL = folder
        let mark = UUID().uuidString
        // A fault may leave a variable unused.
        let own = ["MARTLET_MUTANTS": mark, "MARTLET_STRICT": ""]
        build.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        build.standardOutput = output
        build.standardError = output
        try build.run()
        defer { Interruption.kill(build, mentioning: mark) }
        while build.isRunning { try Interruption.pause() }
        guard build.terminationStatus != 0 else { return nil }
        let text = try String(contentsOf: log, encoding: .utf8)
        let errors = text.matches(of: /(?m)^(\/.+?\.swift):(\d+):\d+: error:/).map { match in
            (String(match.1).replacing(folder.path + "/", with: ""), Int(match.2) ?? 0)
        }
        guard !errors.isEmpty else {
            let lines = text.split(separator: "\n")
            let relevant = (lines.filter { $0.contains("error: ") }.prefix(20) + lines.suffix(5))
            throw RunError("The build fails without a fault:\n" + relevant.joined(separator: "\n"))
        }
        return errors
    }
}

/// An error that ends a run of the command.
struct RunError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
