internal import HTTPTypes
internal import Martlet

/// The endpoint of a transfer that is started again.
struct RecordedEndpoint: Endpoint {
    let path: RequestPath
    let method: HTTPRequest.Method
    let headers: HTTPFields
    /// `TransferAttempts` signs the request itself.
    let authentication = AuthenticationRequirement.none

    init?(_ record: TransferRecord) {
        guard let url = record.url, let method = HTTPRequest.Method(record.method) else { return nil }
        path = .absolute(url)
        self.method = method
        var fields = HTTPFields()
        for pair in record.headers where pair.count == 2 {
            if let name = HTTPField.Name(pair[0]) { fields.append(HTTPField(name: name, value: pair[1])) }
        }
        headers = fields
    }
}
