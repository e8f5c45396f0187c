internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The way of one picture, step by step.
struct Preparation {
    let options: ImageProcessor.Options
    let codec: any ImageCodec
    let cancellation: Cancellation

    func run(_ source: ImageSource) throws(ImageError) -> PreparedImage {
        let bytes = try read(source)
        try cancellation.check()
        guard let kind = ImageKind(of: bytes) else { throw .notAnImage }
        throw .unsupported(kind, advice: "")
    }

    private func read(_ source: ImageSource) throws(ImageError) -> Data {
        switch source {
        case .data(let data):
            guard data.count <= options.maximumInputBytes else { throw .tooManyBytes(maximum: options.maximumInputBytes) }
            return data
        case .file(let path):
            let data: Data?
            do throws(FileProblem) {
                data = try WholeFile.read(path, atMost: options.maximumInputBytes)
            } catch {
                throw .file(error)
            }
            guard let data else { throw .tooManyBytes(maximum: options.maximumInputBytes) }
            return data
        }
    }
}
