// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of RxSwift 6 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: RxSwift/Traits/PrimitiveSequence/Single.swift, RxSwift/Observables/Create.swift and Deferred.swift,
// RxSwift/Disposables/AnonymousDisposable.swift, RxSwift/AnyObserver.swift.

public protocol Disposable {
    func dispose()
}

public protocol Cancelable: Disposable {
    var isDisposed: Bool { get }
}

public struct Disposables {
    public static func create(with dispose: @escaping () -> Void) -> any Cancelable { Declared(dispose) }

    private struct Declared: Cancelable {
        let isDisposed = false
        let call: () -> Void

        init(_ call: @escaping () -> Void) { self.call = call }
        func dispose() { call() }
    }
}

public enum SingleTrait {}
public typealias Single<Element> = PrimitiveSequence<SingleTrait, Element>

public struct PrimitiveSequence<Trait, Element> {
    fileprivate init() {}
}

extension PrimitiveSequence where Trait == SingleTrait {
    public typealias SingleObserver = (Result<Element, any Error>) -> Void

    public static func create(subscribe: @escaping (@escaping SingleObserver) -> any Disposable) -> Single<Element> {
        Single()
    }
}

public class Observable<Element> {
    public static func create(_ subscribe: @escaping (AnyObserver<Element>) -> any Disposable) -> Observable<Element> {
        Observable()
    }

    public static func deferred(
        _ observableFactory: @escaping () throws -> Observable<Element>
    ) -> Observable<Element> {
        Observable()
    }
}

public struct AnyObserver<Element> {
    public func onNext(_ element: Element) {}
    public func onCompleted() {}
    public func onError(_ error: any Error) {}
}
