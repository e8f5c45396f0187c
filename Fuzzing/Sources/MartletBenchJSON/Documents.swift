import Foundation

/// Twenty fields of the kinds that an API has.
struct Account: Decodable {
    let id: Int
    let name: String
    let email: String
    let isActive: Bool
    let balance: Double
    let currency: String
    let createdAt: Int
    let updatedAt: Int
    let country: String
    let city: String
    let street: String
    let zipCode: String
    let latitude: Double
    let longitude: Double
    let loginCount: Int
    let score: Double
    let isVerified: Bool
    let nickname: String?
    let biography: String
    let website: String
}

struct Text: Decodable {
    let title: String
    let body: String
    let tags: [String]
}

struct Measurement: Decodable {
    let small: Int
    let large: Int64
    let ratio: Double
    let samples: [Double]
    let counts: [Int]
}

struct Event: Decodable {
    let start: Date
    let end: Date
}

enum Documents {
    /// An object of 915 bytes.
    static func account(_ number: Int) -> String {
        let start = """
            {"id":\(100_000 + number),"name":"Augusta Ada King","email":"ada.king.\(100_000 + number)@example.com",\
            "isActive":true,"balance":18423.75,"currency":"GBP","createdAt":1735689600,"updatedAt":1767225599,\
            "country":"United Kingdom","city":"London","street":"12 St James's Square","zipCode":"SW1Y 4JH",\
            "latitude":51.507351,"longitude":-0.127758,"loginCount":4711,"score":0.9731,"isVerified":false,\
            "nickname":null,"website":"https://example.com/people/\(100_000 + number)/profile","biography":"
            """
        let sentence = "Wrote the first published algorithm for a machine, and notes on what machines can do. "
        let room = 915 - start.utf8.count - 2
        let text = String(String(repeating: sentence, count: 8).prefix(room))
        return start + text + "\"}"
    }

    static func accounts(bytes: Int) -> Data {
        array(bytes, account)
    }

    static func texts(bytes: Int) -> Data {
        array(bytes) { number in
            """
            {"title":"Caf\\u00e9 \\"N\\u00ba \(number)\\" \\ud83d\\ude00",\
            "body":"서울의 봄은 짧다.\\n\\tZürich, Köln \\/ Łódź\\r\\nLine \(number) with \\"quotes\\" and a \\\\ backslash.",\
            "tags":["größe","naïve \\u00fc","日本語","plain ascii","tab\\tbed"]}
            """
        }
    }

    static func measurements(bytes: Int) -> Data {
        array(bytes) { number in
            """
            {"small":\(number),"large":\(Int64(number) * 922_337_203_685),"ratio":\(Double(number) / 7),\
            "samples":[-65.613616999999977,43.420273000000009,1.5e-8,\(Double(number) / 3),0.1,123456.789],\
            "counts":[1,20,300,4000,50000,-600000]}
            """
        }
    }

    static func events(bytes: Int) -> Data {
        array(bytes) { number in
            let day = String(format: "%02d", number % 28 + 1)
            return #"{"start":"2026-03-\#(day)T08:15:30Z","end":"2027-11-\#(day)T23:59:59Z"}"#
        }
    }

    private static func array(_ bytes: Int, _ element: (Int) -> String) -> Data {
        var text = "[" + element(0)
        var number = 1
        while text.utf8.count < bytes {
            text += "," + element(number)
            number += 1
        }
        return Data((text + "]").utf8)
    }
}
