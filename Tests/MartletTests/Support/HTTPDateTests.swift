import Foundation
import Testing

@testable import Martlet

@Suite("Dates in header fields", .timeLimit(.minutes(10))) struct HTTPDateTests {
    @Test(
        "the three formats of RFC 9110 are read",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 UTC",
        ])
    func formats(text: String) {
        #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test("a year of two digits is at most about 50 years in the future", arguments: [("69", 2069), ("70", 1970)])
    func twoDigits(digits: String, year: Int) {
        let date = HTTPDate.parse("Thursday, 01-Jan-\(digits) 00:00:00 GMT")
        #expect(date == HTTPDate.parse("Thu, 01 Jan \(year) 00:00:00 GMT"))
        #expect(date != nil)
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "Sun, 06 Nov 1994", "Sun, 06 Nov 194 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
            "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 6 Foo 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun 6 Nov 08:49:37 1994", "Sun, 06 Nov ٩٤ 08:49:37 GMT",
        ])
    func others(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
