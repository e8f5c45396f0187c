// An app that uses MartletImages alone. Decoding a picture needs codecs, which not every set of traits has.
import MartletImages

var options = ImageProcessor.Options()
options.maximumBytes = 100_000
let processor = ImageProcessor(options)
print("Hello, \(PixelSize(width: 1024, height: 768))!")
