// Features that the package's own systems support and older systems lack: a package with them would need a check.
// older systems

func sizes() -> Int {
    let list: [any Collection<Int>] = []
    return list.count  // too new: a parameterized existential in a generic argument
}
