// Types that older systems cannot create at run time: typed throws and `@isolated(any)` as generic arguments.

internal import Foundation

enum Refusal: Error {
    case closed
}

func attempts() -> Int {
    let list: [() throws(Refusal) -> Void] = []
    return list.count  // too new: typed throws in a generic argument
}

func steps() -> Int {
    let list: [@isolated(any) () -> Void] = []
    return list.count  // too new: @isolated(any) in a generic argument
}

func attempt(_ work: () throws(Refusal) -> Void) -> Bool {
    do throws(Refusal) {
        try work()
        return true
    } catch {
        return false
    }
}
