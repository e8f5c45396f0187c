// An app that uses MartletAdoption alone.
import MartletAdoption

let former = FormerTokens(named: "an earlier version", read: { nil })
print("Hello, \(type(of: former))!")
