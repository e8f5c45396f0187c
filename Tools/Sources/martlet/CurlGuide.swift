internal import ReferenceBackend

/// How to talk to the backend from a shell, in its dialect.
struct CurlGuide: Sendable {
    let baseURL: String
    let dialect: Dialect
    let showsControls: Bool
    /// Answers have no line end of their own.
    private let curl = #"curl -sSw '\n'"#

    /// The guide to a backend.
    init(baseURL: String, dialect: Dialect, showsControls: Bool) {
        self.baseURL = baseURL
        self.dialect = dialect
        self.showsControls = showsControls
    }

    /// What can be done, each with the commands that do it. Later ones use the variables that earlier ones set.
    var steps: [(what: String, commands: [String])] {
        var steps = [
            ("A guest signs in; the answer holds the tokens.", [signIn, "echo \"$answer\""] + variables),
            (
                "The access token opens what needs one.",
                ["\(curl) \(baseURL)/me -H \"Authorization: Bearer $access\""]
            ),
            (renewal, [refresh]),
        ]
        if showsControls {
            steps += [
                ("Let every access token expire.", ["\(curl) -X POST \(baseURL)/_control/expire-access-tokens"]),
                ("See what the server has counted.", ["\(curl) \(baseURL)/_control/counters"]),
            ]
        }
        return steps
    }

    private var signIn: String {
        let cookies = dialect == .cookie ? " -c cookies.txt" : ""
        return "answer=$(curl -sS\(cookies) -F name=Ada \(baseURL)/auth/guest/register)"
    }

    private var variables: [String] {
        let names =
            switch dialect {
            case .envelope, .header, .reissue: ["access": "accessToken", "refresh": "refreshToken"]
            case .oauth2: ["access": "access_token", "refresh": "refresh_token"]
            case .legacy419: ["access": "token", "refresh": "refreshToken"]
            case .cookie: ["access": "accessToken"]
            }
        return names.sorted { $0.key < $1.key }.map { variable, member in
            #"\#(variable)=$(echo "$answer" | grep -o '"\#(member)":"[^"]*' | cut -d'"' -f4)"#
        }
    }

    private var renewal: String {
        dialect == .legacy419
            ? "A new access token; the refresh token stays."
            : "A new pair. The refresh token works once: used twice it counts as stolen, and the session ends."
    }

    private var refresh: String {
        let json = #"-H 'Content-Type: application/json' -d "{\"refreshToken\":\"$refresh\"}""#
        return switch dialect {
        case .envelope, .legacy419: "\(curl) \(baseURL)/auth/refresh \(json)"
        case .reissue: "\(curl) \(baseURL)/auth/reissue \(json)"
        case .oauth2:
            "\(curl) \(baseURL)/oauth/token -d grant_type=refresh_token --data-urlencode \"refresh_token=$refresh\""
        case .header: "\(curl) \(baseURL)/auth/refresh -H \"refresh-token: $refresh\""
        case .cookie: "\(curl) -X POST -b cookies.txt -c cookies.txt \(baseURL)/auth/refresh"
        }
    }
}
