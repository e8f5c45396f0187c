// Tests of the adapter for RxSwift with RxSwift itself. `make adapters` compiles them together with the adapter in
// CombineAndRxSwift.md.

import Foundation
import Martlet
import MartletTesting
import RxSwift
import Testing

@Suite("The adapter for RxSwift", .timeLimit(.minutes(10))) struct RxSwiftAdapterTests {
    private struct Numbers: APIEndpoint {
        let path: RequestPath = "/numbers"
    }

    @Test("a single delivers the value of a call, or its error", arguments: [200, 404]) func single(status: Int) async {
        let server = StubTransport { _ in .json("[1]", status: status) }
        let client = NetworkClient(baseURL: "https://api.example.com", transport: server)
        let result = await withCheckedContinuation { result in
            _ = client.single(for: Numbers(), as: [Int].self).subscribe(
                onSuccess: { result.resume(returning: Result<[Int], any Error>.success($0)) },
                onFailure: { result.resume(returning: .failure($0)) })
        }
        switch result {
        case .success(let numbers): #expect(status == 200 && numbers == [1])
        case .failure(let error): #expect(status == 404 && (error as? NetworkError)?.response?.status == 404)
        }
    }

    @Test("a subscription that is disposed of cancels its call") func disposal() async {
        let (gate, cancelled) = (Gate(), Gate())
        let server = StubTransport { _ in
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                cancelled.open()
            }
            return .json("[1]")
        }
        let client = NetworkClient(baseURL: "https://api.example.com", transport: server)
        let subscription = client.single(for: Numbers(), as: [Int].self).subscribe()
        await gate.waitForArrivals()
        subscription.dispose()
        await cancelled.pass()
        gate.open()
    }

    @Test("the observable delivers the current state and every further one") func states() async throws {
        let tokens = await TokenManager.signedIn()
        let (states, continuation) = AsyncStream<Bool>.makeStream()
        let subscription = tokens.stateObservable.subscribe(onNext: { continuation.yield($0.isSignedIn) })
        defer { subscription.dispose() }
        var iterator = states.makeAsyncIterator()
        #expect(await iterator.next() == true)
        await tokens.signOut()
        #expect(await iterator.next() == false)
    }
}
