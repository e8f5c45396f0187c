#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
        import OpenCombineDispatch
    #endif
    import Dispatch
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletCombine

    @Suite("Threads of a publisher", .timeLimit(.minutes(10))) struct PublisherThreadTests {
        private let key = DispatchSpecificKey<String>()

        private func queue(_ name: String) -> DispatchQueue {
            let queue = DispatchQueue(label: name)
            queue.setSpecific(key: key, value: name)
            return queue
        }

        @Test("values and completion arrive on the scheduler chosen by the subscriber") func chosen() async {
            let chosen = queue("chosen")
            let heard = Log()
            let subscription = client(StubTransport { _ in .json("1") })
                .publisher(for: Get("/number", .none), as: Int.self)
                .receive(on: chosen)
                .sink { [key] _ in
                    heard.add("end on \(DispatchQueue.getSpecific(key: key) ?? "another")")
                } receiveValue: { [key] _ in
                    heard.add("value on \(DispatchQueue.getSpecific(key: key) ?? "another")")
                }
            await heard.waitForLines(2)
            #expect(heard.lines == ["value on chosen", "end on chosen"])
            subscription.cancel()
        }

        @Test("without a scheduler, values arrive from the task, not on the subscribing thread") func unchosen() async {
            let asking = queue("asking")
            let heard = Log()
            let publisher = client(StubTransport { _ in .json("1") })
                .publisher(for: Get("/number", .none), as: Int.self)
            let recorder = asking.sync {
                publisher.record(.none) { [key] _, _ in
                    heard.add(DispatchQueue.getSpecific(key: key) ?? "another")
                    return .none
                }
            }
            await recorder.waitUntilDemandIsNeeded()
            asking.sync { recorder.request(.max(1)) }
            await recorder.waitForEnd()
            #expect(heard.lines == ["another"])
        }

        @Test("values are delivered without holding a lock") func unlocked() async {
            let other = queue("other")
            let publisher = TaskPublisher<Int, NetworkError> { subscription in
                for number in 1...10 { await subscription.send(number) }
            }
            let recorder = publisher.record(.max(1)) { recorder, number in
                other.sync {
                    recorder.request(.max(1))
                    if number == 5 { recorder.cancel() }
                }
                return .none
            }
            await recorder.waitForValues(5)
            await recorder.waitUntilReleased()
            #expect(recorder.values == [1, 2, 3, 4, 5])
            #expect(!recorder.isOver)
        }
    }
#endif
