// An app that uses MartletCombine alone. On Linux, the module is empty without the trait OpenCombine.
import MartletCombine

#if canImport(Combine)
    let update = TransferUpdate.finished("world")
#else
    let update = "world"
#endif
print("Hello, \(update)!")
