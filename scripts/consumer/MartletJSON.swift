// An app that uses MartletJSON alone.
import Foundation
import MartletJSON

struct User: Decodable { var name: String }

let user = try MartletJSONDecoder().decode(User.self, from: Data(#"{"name":"Ada"}"#.utf8))
print("Hello, \(user.name)!")
