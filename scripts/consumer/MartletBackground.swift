// An app that uses MartletBackground alone. The transfers themselves exist on Apple platforms only.
import MartletBackground

var options = BackgroundTransferOptions()
options.minimumTokenLifetime = .seconds(60)
print("Hello, token of \(options.minimumTokenLifetime)!")
