// An app that uses two products: a client of Martlet that decodes with MartletJSON.
import Martlet
import MartletJSON

var config = NetworkConfig()
config.decoder = MartletJSONDecoder()
let client = NetworkClient(baseURL: "https://api.example.com", config: config)
print("Hello, \(type(of: config.decoder)) of \(type(of: client))!")
