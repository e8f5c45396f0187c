internal import Foundation

/// Multipart parsers of other projects, in Python.
enum ForeignParser: String, CaseIterable {
    case email, werkzeug
    case pythonMultipart = "python-multipart"

    static let isMissing =
        "needs python3 with the packages werkzeug and python-multipart, which `make check` installs into .venv"

    static let isInstalled: Bool = {
        let check = Process()
        check.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        check.arguments = ["python3", "-c", "import werkzeug.sansio.multipart, python_multipart.multipart"]
        check.standardOutput = FileHandle.nullDevice
        check.standardError = FileHandle.nullDevice
        guard (try? check.run()) != nil else { return false }
        check.waitUntilExit()
        return check.terminationStatus == 0
    }()

    struct Failed: Error {
        let status: Int32
    }

    /// A form as it is sent.
    struct Form: Encodable {
        let contentType: String
        let body: Data
    }

    /// A part as the Python script returns it.
    private struct Record: Decodable {
        let name: String?
        let filename: String?
        let contentType: String?
        let content: Data
    }

    /// Parses forms in one process. They are passed in files, so that a full pipe cannot block either side.
    func parts(of forms: [Form]) async throws -> [[ReadPart]] {
        try await TemporaryFolder.with { folder in
            let output = try folder.file("parts.json")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", Self.script, rawValue]
            let input = try folder.file("forms.json", try JSONEncoder().encode(forms))
            process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
            let status = try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do { try process.run() } catch { continuation.resume(throwing: error) }
            }
            guard status == 0 else { throw Failed(status: status) }
            let json = try Data(contentsOf: URL(fileURLWithPath: output))
            return try JSONDecoder().decode([[Record]].self, from: json).map { records in
                records.map {
                    ReadPart(name: $0.name, filename: $0.filename, contentType: $0.contentType, content: $0.content)
                }
            }
        }
    }

    private static let script = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../..").standardizedFileURL
        .appendingPathComponent("Support/parse_multipart.py")
        .path
}
