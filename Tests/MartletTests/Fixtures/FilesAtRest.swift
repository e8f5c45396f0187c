import Foundation

/// All files in a folder and its subfolders.
struct FilesAtRest {
    let paths: [String]

    init(below folder: String) {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        paths = names.sorted().map { folder + "/" + $0 }
    }

    /// The files whose bytes contain a text.
    func paths(holding text: String) -> [String] {
        paths.filter { path in
            guard let bytes = FileManager.default.contents(atPath: path) else { return false }
            return bytes.firstRange(of: Data(text.utf8)) != nil
        }
    }

    /// The files that grant any permission to users other than their owner.
    var openToOthers: [String] {
        paths.filter { path in
            var status = stat()
            return lstat(path, &status) != 0 || status.st_mode & 0o077 != 0
        }
    }
}
