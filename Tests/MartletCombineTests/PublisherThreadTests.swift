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

        @Test("operators directly after a publisher with a scheduler run on it") func operators() async throws {
            let chosen = queue("chosen")
            let heard = Log()
            let here: @Sendable (String) -> Void = { [key] in
                heard.add("\($0) on \(DispatchQueue.getSpecific(key: key) ?? "another")")
            }
            let app = client(StubTransport { _ in .json("1") })
            let get = Get("/number", .none)
            let number: AnyPublisher<Int, NetworkError> = app.publisher(for: get, on: chosen)
            let nothing: AnyPublisher<Void, NetworkError> = app.publisher(for: get, on: chosen)
            let response = app.responsePublisher(for: get, as: Int.self, on: chosen)
            let upload = app.uploadPublisher(for: get, as: Int.self, on: chosen)
            let mapped: [AnyPublisher<Void, NetworkError>] = [
                number.map { _ in here("map") }.eraseToAnyPublisher(),
                nothing.map { here("nothing") }.eraseToAnyPublisher(),
                response.map { _ in here("response") }.eraseToAnyPublisher(),
                app.dataPublisher(for: get, on: chosen).map { _ in here("data") }.eraseToAnyPublisher(),
                upload.last().map { _ in here("upload") }.eraseToAnyPublisher(),
                app.uploadResponsePublisher(for: get, as: Int.self, on: chosen).last()
                    .map { _ in here("upload response") }.eraseToAnyPublisher(),
            ]
            let subscriptions = mapped.map { publisher in
                publisher.sink(receiveCompletion: { _ in here("end") }, receiveValue: {})
            }
            await heard.waitForLines(12)
            #expect(heard.lines.allSatisfy { $0.hasSuffix(" on chosen") })
            #expect(Set(heard.lines).count == 7)
            for subscription in subscriptions { subscription.cancel() }
        }

        @Test("the states of a session arrive on their scheduler") func states() async {
            let heard = Log()
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                transport: StubTransport())
            let subscription = tokens.statePublisher(on: queue("chosen"))
                .map { [key] _ in heard.add(DispatchQueue.getSpecific(key: key) ?? "another") }
                .sink { _ in }
            await heard.waitForLines(1)
            #expect(heard.lines.first == "chosen")
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
