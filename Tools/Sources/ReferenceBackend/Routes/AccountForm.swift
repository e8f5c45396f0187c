import GRDB

/// The validated body of a registration or an upgrade.
struct AccountForm {
    let email: String
    let password: String
    let name: String?

    static let shortestPassword = 8
    static let maximumNameLength = 100

    init(_ json: JSONValue) throws {
        email = Self.normalized(json["email"]?.stringValue ?? "")
        password = json["password"]?.stringValue ?? ""
        name = json["name"]?.stringValue
        var problems: [APIError.Field] = []
        let halves = email.split(separator: "@", omittingEmptySubsequences: false)
        if halves.count != 2 || halves.contains("") {
            problems.append(APIError.Field(name: "email", message: "This is not a valid e-mail address."))
        }
        if password.count < Self.shortestPassword {
            let message = "A password must have at least \(Self.shortestPassword) characters."
            problems.append(APIError.Field(name: "password", message: message))
        }
        if let name, !(1...Self.maximumNameLength).contains(name.count) {
            let message = "A name must have between 1 and \(Self.maximumNameLength) characters."
            problems.append(APIError.Field(name: "name", message: message))
        }
        if !problems.isEmpty { throw APIError.invalid(problems) }
    }

    var defaultName: String { String(email.prefix { $0 != "@" }) }

    static func normalized(_ email: String) -> String {
        email.trimmingBlanks.lowercased()
    }
}

/// Converts the database's constraint error for a second account with the same address into a conflict.
func refusingDuplicate<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
        return try await work()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        throw APIError.conflict("An account with this e-mail address exists already.")
    }
}

extension Store {
    func insertRefusingDuplicate(_ user: UserRecord) async throws {
        try await refusingDuplicate { try await insert(user) }
    }
}
