extension Report {
    private static let minimumSpeed = 2.5
    /// The memory limits above an idle process, in megabytes, by the picture's megapixels.
    private static let maximumMegabytesOfPicture = [12: 24.0, 48: 48.0]

    func show(_ pictures: Pictures?) {
        let speed = Self.minimumSpeed.formatted(1)
        let title = "at least \(speed) times as fast as the command vipsthumbnail with 12 megapixels"
        guard let pictures else {
            missing("vipsthumbnail", packages: Pictures.packages, for: title)
            return
        }
        table(
            "A baseline JPEG prepared for upload, each in its own process",
            [
                "megapixels", "ImageProcessor s", "vipsthumbnail s", "vips startup s", "times as fast",
                "without startup", "peak MB above idle",
            ],
            pictures.series.map { series in
                [
                    "\(series.megapixels)", series.martlet.map(\.seconds).median.formatted(3),
                    series.vips.median.formatted(3), series.vipsStart.median.formatted(3),
                    series.speed.median.formatted(2), series.speedWithoutStart.median.formatted(2),
                    (Double(series.bytesAboveIdle) / 1e6).formatted(1),
                ]
            })
        for series in pictures.series {
            if series.megapixels == 12 {
                verdict(title, series.speed.median, isMet: { $0 >= Self.minimumSpeed })
            }
            guard let limit = Self.maximumMegabytesOfPicture[series.megapixels] else { continue }
            verdict(
                "\(series.megapixels) megapixels in at most \(limit.formatted(0)) MB above idle",
                Double(series.bytesAboveIdle) / 1e6, isMet: { $0 <= limit })
        }
        print()
    }
}
