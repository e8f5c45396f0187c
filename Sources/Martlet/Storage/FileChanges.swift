extension FileTokenStore {
    /// One value whenever the file was replaced or deleted, by whom ever.
    ///
    /// The folder is made where it is missing, so that it can be watched. Once it is removed, a new one in its place is
    /// another folder, of which nothing is told.
    /// - Returns: `nil` where it cannot be watched.
    public func changes() -> AsyncStream<Void>? {
        PrivateFile(path: path).changes()
    }
}

extension PrivateFile {
    /// One value whenever the file was replaced or deleted, in a folder that is made where it is missing; `nil` where that
    /// cannot be watched.
    func changes() -> AsyncStream<Void>? {
        guard (try? makeFolder()) != nil else { return nil }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (folder, name) = place
        guard let watch = FolderWatch(folder, reportChangesOf: name, to: { continuation.yield() }) else { return nil }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}
