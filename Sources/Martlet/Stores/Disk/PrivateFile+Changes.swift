extension PrivateFile {
    /// A stream that yields each time the file was replaced or deleted; `nil` if its folder cannot be watched. Creates
    /// the folder if it is missing.
    func changes() -> AsyncStream<Void>? {
        guard (try? makeFolder()) != nil else { return nil }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (folder, name) = location
        guard let watch = FolderWatch(folder, reportChangesOf: name, to: { continuation.yield() }) else { return nil }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}
