import Foundation

/// All files in a folder, and in those below it.
struct FilesAtRest {
    let paths: [String]

    init(below folder: String) {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        paths = names.sorted().map { folder + "/" + $0 }
    }

    /// Those whose bytes have a text in them.
    func paths(holding text: String) -> [String] {
        paths.filter { path in
            guard let bytes = FileManager.default.contents(atPath: path) else { return false }
            return bytes.firstRange(of: Data(text.utf8)) != nil
        }
    }

    /// Those that anybody but their owner can do something with.
    var openToOthers: [String] {
        paths.filter { path in
            var status = stat()
            return lstat(path, &status) != 0 || status.st_mode & 0o077 != 0
        }
    }
}
