// Values without a meaning in a path or a query, which the declarations of Martlet reject.

internal import Martlet

let secret: Secret = "token"
let name: String? = nil
let ids = [1, 2, 3]
let fine: Query = ["ids": ids, "name": name, "page": 2]
let path: RequestPath = "/users/\(name ?? "me")/\(ids.count)"

let secretItem: Query = ["token": secret]  // mistake: expected dictionary value type
let nestedItem: Query = ["ids": [ids]]  // mistake: expected dictionary value type
let objectItem: Query = ["filter": ["name": "Ada"]]  // mistake: expected dictionary value type
let secretSegment: RequestPath = "/reset/\(secret)"  // mistake: a path is logged
let absentSegment: RequestPath = "/users/\(name)"  // mistake: must be unwrapped
let arraySegment: RequestPath = "/users/\(ids)"  // mistake: cannot convert value of type
