internal import ReferenceBackend

/// The curl commands that sign in to a backend, call it and refresh its tokens, in the backend's dialect.
struct CurlGuide: Sendable {
    let baseURL: String
    let dialect: Dialect
    let showsControls: Bool
    /// curl with a line break after each response, because bodies do not end with one.
    private let curl = #"curl -sSw '\n'"#

    init(baseURL: String, dialect: Dialect, showsControls: Bool) {
        self.baseURL = baseURL
        self.dialect = dialect
        self.showsControls = showsControls
    }

    /// The steps in order, each with its commands. Later commands use shell variables that earlier ones set.
    var steps: [(title: String, commands: [String])] {
        var steps = [
            ("Sign in as a guest. The response contains the tokens.", [signIn, "echo \"$response\""] + variables),
            (
                "Call an endpoint that requires the access token.",
                ["\(curl) \(baseURL)/me -H \"Authorization: Bearer $access\""]
            ),
            (refreshTitle, [refresh]),
        ]
        if showsControls {
            steps += [
                ("Expire every access token.", ["\(curl) -X POST \(baseURL)/_control/expire-access-tokens"]),
                ("Read the server's counters.", ["\(curl) \(baseURL)/_control/counters"]),
            ]
        }
        return steps
    }

    private var signIn: String {
        let cookies = dialect == .cookie ? " -c cookies.txt" : ""
        return "response=$(curl -sS\(cookies) -F name=Ada \(baseURL)/auth/guest/register)"
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
            #"\#(variable)=$(echo "$response" | grep -o '"\#(member)":"[^"]*' | cut -d'"' -f4)"#
        }
    }

    private var refreshTitle: String {
        dialect == .legacy419
            ? "Refresh: get a new access token. The refresh token stays the same."
            : "Refresh: get a new pair. A refresh token works once; if it is reused, the server ends the session."
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
