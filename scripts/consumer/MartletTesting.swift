// A program that uses MartletTesting alone.
import MartletTesting

let time = ManualTimeSource()
let start = time.uptime
await time.advance(by: .seconds(60))
print("Hello, after \(time.uptime - start)!")
