#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif
    import Dispatch
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletCombine

    @Suite("A subscriber's demand", .timeLimit(.minutes(10))) struct PublisherDemandTests {
        /// A publisher of the numbers from 1 to `count`.
        private func numbers(_ count: Int) -> TaskPublisher<Int, NetworkError> {
            TaskPublisher { subscription in
                for number in 1...count { await subscription.send(number) }
            }
        }

        @Test("without demand there is no value, and no completion before it") func none() async {
            let transport = StubTransport { _ in .json("1") }
            let recorder = client(transport).publisher(for: Get("/number", .none), as: Int.self).record(.none)
            await recorder.waitUntilDemandIsNeeded()
            #expect(transport.requests.count == 1)
            #expect(recorder.values.isEmpty)
            #expect(!recorder.isOver)
            recorder.request(.none)
            #expect(recorder.needsDemand)
            recorder.request(.max(1))
            await recorder.waitForEnd()
            #expect(recorder.values == [1])
            #expect(recorder.isFinished)
        }

        @Test("a completion without a value needs no demand") func ends() async {
            let transport = StubTransport { _ in .status(404) }
            let failed = client(transport).publisher(for: Get("/number", .none), as: Int.self).record(.none)
            await failed.waitForEnd()
            #expect(failed.failure?.response?.status == 404)
            let empty = TaskPublisher<Int, Never> { _ in }.record(.none)
            await empty.waitForEnd()
            #expect(empty.isFinished)
        }

        @Test("values arrive as demanded, in one request or one by one") func counted() async {
            let recorder = numbers(10).record(.max(3))
            await recorder.waitUntilDemandIsNeeded(after: 3)
            #expect(recorder.values == [1, 2, 3])
            recorder.request(.max(2))
            await recorder.waitForValues(5)
            await recorder.waitUntilDemandIsNeeded(after: 5)
            #expect(recorder.values == [1, 2, 3, 4, 5])
            recorder.request(.unlimited)
            await recorder.waitForEnd()
            #expect(recorder.values == Array(1...10))
            #expect(recorder.isFinished)
        }

        @Test("more demand can be returned from receiving a value") func returned() async {
            let recorder = numbers(5).record(.max(1)) { _, number in number < 3 ? .max(1) : .none }
            await recorder.waitForValues(3)
            await recorder.waitUntilDemandIsNeeded(after: 3)
            #expect(recorder.values == [1, 2, 3])
            recorder.request(.max(5))
            await recorder.waitForEnd()
            #expect(recorder.values == [1, 2, 3, 4, 5])
        }

        @Test("more demand can be added while receiving a value, on any thread")
        func reentrant() async {
            let queue = DispatchQueue(label: "asks")
            let recorder = numbers(100).record(.max(1)) { recorder, number in
                if number.isMultiple(of: 2) {
                    recorder.request(.max(1))
                } else {
                    // Would deadlock if the publisher held a lock here.
                    queue.sync { recorder.request(.max(1)) }
                }
                return .none
            }
            await recorder.waitForEnd()
            #expect(recorder.values == Array(1...100))
            #expect(recorder.disorder == 0)
        }

        @Test("values are delivered one at a time, however many threads add demand") func concurrent() async {
            let recorder = numbers(1000).record(.none)
            await withTaskGroup { group in
                for _ in 0..<1000 { group.addTask { recorder.request(.max(1)) } }
            }
            await recorder.waitForEnd()
            #expect(recorder.values == Array(1...1000))
            #expect(recorder.disorder == 0)
            #expect(recorder.isFinished)
        }

        @Test("late demand on a stream receives only its newest value") func conflated() async {
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
            let publisher = TaskPublisher<Int, Never> { subscription in await subscription.send(stream) { $0 } }
            let recorder = publisher.record(.none)
            await recorder.waitUntilDemandIsNeeded()
            for number in 1...1000 { continuation.yield(number) }
            continuation.finish()
            recorder.request(.unlimited)
            await recorder.waitForEnd()
            #expect(recorder.values == [1000])
        }
    }
#endif
