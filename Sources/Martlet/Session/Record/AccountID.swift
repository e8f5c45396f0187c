/// The name of one of the accounts of ``Accounts``. Names are compared byte by byte: `String` compares by canonical
/// equivalence, so two spellings of é would be equal, but to a server and a store they are two users.
struct AccountID: Sendable, Hashable {
    let rawValue: String

    static func == (one: AccountID, other: AccountID) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte) }
        hasher.combine(rawValue.utf8.count)
    }
}
