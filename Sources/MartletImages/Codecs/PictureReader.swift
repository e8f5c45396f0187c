#if ImageCodecs && os(Linux)
    internal import CMartletImages
    internal import FoundationEssentials

    /// A picture that a library has opened, read row by row.
    final class PictureReader {
        let kind: ImageKind
        let layout: martlet_layout
        private let reader: OpaquePointer

        init(_ kind: ImageKind, _ open: (inout martlet_problem) -> OpaquePointer?) throws(ImageError) {
            var problem = martlet_problem()
            guard let reader = open(&problem) else { throw Self.error(kind, problem) }
            self.kind = kind
            self.reader = reader
            layout = martlet_reader_layout(reader)
        }

        deinit {
            martlet_close(reader)
        }

        var size: PixelSize { PixelSize(width: layout.width, height: layout.height) }

        /// Reads all rows, scales them down and converts them to sRGB.
        func bitmap(
            of wanted: PixelSize, _ description: ImageDescription, _ cancellation: Cancellation
        ) throws(ImageError) -> Bitmap {
            // If the library finds a smaller picture than the headers say, do not enlarge it.
            let newSize = PixelSize(width: min(wanted.width, size.width), height: min(wanted.height, size.height))
            let hasAlpha = layout.is_cmyk == 0 && (layout.channels == 2 || layout.channels == 4)
            var reducer = Reducer(from: size, to: newSize, channels: layout.channels, hasAlpha: hasAlpha)
            var problem = martlet_problem()
            for row in 0..<size.height {
                if row % 16 == 0 { try cancellation.check() }
                try reducer.append { target throws(ImageError) in
                    guard martlet_read_row(reader, target, &problem) == .good else {
                        throw Self.error(kind, problem)
                    }
                }
            }
            try cancellation.check()
            return converted(reducer.finish(), of: newSize, description)
        }

        private func converted(_ pixels: [UInt8], of size: PixelSize, _ description: ImageDescription) -> Bitmap {
            if !description.isSRGB, let bitmap = convertedByProfile(pixels, of: size, description) {
                return bitmap
            }
            guard layout.is_cmyk != 0 else {
                // The readers yield 1 to 4 channels, so one of the layouts matches.
                return Bitmap(size, Bitmap.Layout(rawValue: layout.channels) ?? .rgb, pixels)
            }
            // Without a profile the inks are unknown. Multiply each color by black, as if light passed through both.
            var flat = [UInt8](repeating: 0, count: size.count * 3)
            martlet_flatten(pixels, size.count, 4, [0, 0, 0], &flat)
            return Bitmap(size, .rgb, flat)
        }

        /// - Parameter description: Provides the code points, and the ICC profile if the library does not.
        /// - Returns: `nil` if there is no color information, or none that fits these pixels.
        private func convertedByProfile(
            _ pixels: [UInt8], of size: PixelSize, _ description: ImageDescription
        ) -> Bitmap? {
            var layout = layout
            let hasAlpha = layout.is_cmyk == 0 && (layout.channels == 2 || layout.channels == 4)
            let convert = { (layout: martlet_layout) -> Bitmap? in
                var isConverted = false
                let result = [UInt8](unsafeUninitializedCapacity: size.count * (hasAlpha ? 4 : 3)) { target, count in
                    guard let start = target.baseAddress else { return }
                    isConverted =
                        withUnsafePointer(to: layout) {
                            martlet_convert_to_srgb($0, pixels, size.count, layout.channels, start)
                        } != 0
                    count = isConverted ? target.count : 0
                }
                return isConverted ? Bitmap(size, hasAlpha ? .rgba : .rgb, result) : nil
            }
            if let codePoints = description.codePoints {
                layout.code_primaries = codePoints.primaries
                layout.code_transfer = codePoints.transfer
                layout.is_narrow = codePoints.isNarrow ? 1 : 0
            }
            guard let profile = description.profile else { return convert(layout) }
            return profile.withUnsafeBytes { bytes in
                layout.profile = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                layout.profile_length = bytes.count
                return convert(layout)
            }
        }

        private static func error(_ kind: ImageKind, _ problem: martlet_problem) -> ImageError {
            switch problem.status {
            case .unsupported:
                .unsupported(
                    kind,
                    advice: "The codec does not know this variant (\(problem.text)). Convert it to JPEG, PNG or WebP.")
            case .missing:
                .unsupported(
                    kind,
                    advice:
                        "Install libheif: the package is libheif1 on Debian and Ubuntu, libheif on Fedora and Alpine.")
            case .no_memory: .failed(reason: problem.text)
            default: .damaged(kind, reason: problem.text)
            }
        }
    }
#endif
