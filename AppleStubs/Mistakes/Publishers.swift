// Code that Combine rejects, and that a stub with wrong constraints would accept.

internal import Combine

enum Refusal: Error {
    case one
}

func leavesFailureOut(_ publisher: AnyPublisher<Int, Refusal>) -> AnyCancellable {
    publisher.sink { _ in }  // mistake: requires the types 'Refusal' and 'Never' be equivalent
}

func erasesToAnotherFailure(_ publisher: AnyPublisher<Int, Refusal>) -> AnyPublisher<Int, Never> {
    publisher.map { $0 + 1 }.eraseToAnyPublisher()  // mistake: cannot convert return expression
}

struct Screen {
    @Published var title = ""  // mistake: @Published is only available on properties of classes
}

final class Half: Subscription {  // mistake: does not conform to protocol 'Cancellable'
    func request(_ demand: Subscribers.Demand) {}
}
