#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletCombine

    @Suite("Cancelling a subscription", .timeLimit(.minutes(10))) struct PublisherCancellationTests {
        private let heard = Log()

        private func call(_ transport: StubTransport) -> AnyPublisher<Int, NetworkError> {
            client(transport).publisher(for: Get("/number", .none), as: Int.self)
        }

        private func listen(to publisher: AnyPublisher<Int, NetworkError>) -> AnyCancellable {
            publisher.sink { [heard] in
                heard.add("\($0)")
            } receiveValue: { [heard] in
                heard.add("\($0)")
            }
        }

        @Test("a subscription cancelled before its first demand does no work") func beforeTheStart() {
            let publisher = TaskPublisher<Int, NetworkError>(opening: {
                heard.add("opened")
                return { await $0.send(1) }
            })
            let recorder = publisher.record(cancelsAtOnce: true)
            #expect(heard.lines.isEmpty)
            #expect(recorder.values.isEmpty)
            #expect(!recorder.isOver)
        }

        @Test("cancelling a subscription cancels its call, and nothing more is delivered") func midway() async {
            let transport = SilentTransport()
            let recorder = call(transport.stub).record()
            await transport.log.waitForLines(1)
            recorder.cancel()
            await transport.log.waitForLines(2)
            await recorder.waitUntilReleased()
            #expect(transport.log.lines == ["came", "cancelled"])
            #expect(recorder.values.isEmpty)
            #expect(!recorder.isOver)
        }

        @Test("releasing a subscription cancels it") func dropped() async {
            let transport = SilentTransport()
            var subscriptions: Set<AnyCancellable> = []
            listen(to: call(transport.stub)).store(in: &subscriptions)
            await transport.log.waitForLines(1)
            subscriptions = []
            await transport.log.waitForLines(2)
            #expect(transport.log.lines == ["came", "cancelled"])
        }

        @Test("cancelling discards a value that waits for demand") func withValue() async {
            let recorder = call(StubTransport { _ in .json("1") }).record(.none)
            await recorder.waitUntilDemandIsNeeded()
            recorder.cancel()
            recorder.request(.unlimited)
            await recorder.waitUntilReleased()
            #expect(recorder.values.isEmpty)
            #expect(!recorder.isOver)
        }

        @Test(
            "a subscriber that cancels while it receives gets no more values and no completion") func whileReceiving()
            async
        {
            let publisher = TaskPublisher<Int, NetworkError> { subscription in
                for number in 1...10 { await subscription.send(number) }
            }
            let recorder = publisher.record { recorder, number in
                if number == 3 { recorder.cancel() }
                return .max(1)
            }
            await recorder.waitForValues(3)
            await recorder.waitUntilReleased()
            #expect(recorder.values == [1, 2, 3])
            #expect(!recorder.isOver)
        }

        @Test("cancelling after completion has no effect") func afterTheEnd() async {
            let subscription = listen(to: call(StubTransport { _ in .json("1") }))
            await heard.waitForLines(2)
            subscription.cancel()
            subscription.cancel()
            #expect(heard.lines == ["1", "finished"])
        }

        @Test("cancelling releases the subscriber at once, even while the work continues") func released() async {
            let gate = Gate()
            let publisher = TaskPublisher<Int, NetworkError> { subscription in
                await gate.pass()
                await subscription.send(1)
            }
            weak var subscriber: Recorder<Int, NetworkError>?
            do {
                let recorder = publisher.record()
                subscriber = recorder
                await gate.waitForArrivals()
                recorder.cancel()
            }
            #expect(subscriber == nil)
            gate.open()
        }

        @Test("a finished subscription releases its subscriber and its client") func nothingLeft() async {
            weak var subscriber: Recorder<Int, NetworkError>?
            weak var client: NetworkClient?
            do {
                let held = NetworkClient(
                    baseURL: "https://api.example.com", transport: StubTransport { _ in .json("1") })
                client = held
                let recorder = held.publisher(for: Get("/number", .none), as: Int.self).record()
                subscriber = recorder
                await recorder.waitForEnd()
                #expect(recorder.values == [1])
            }
            while subscriber != nil || client != nil { await Task.yield() }
        }

        @Test("a cancellation that races with the response delivers all events in order, or none") func races()
            async
        {
            let publisher = call(StubTransport { _ in .json("1") })
            let recorders = (0..<1000).map { _ in publisher.record() }
            await withTaskGroup { group in
                for (index, recorder) in recorders.enumerated() where !index.isMultiple(of: 4) {
                    group.addTask {
                        for _ in 0..<index % 40 { await Task.yield() }
                        recorder.cancel()
                    }
                }
            }
            for (index, recorder) in recorders.enumerated() {
                if index.isMultiple(of: 4) { await recorder.waitForEnd() }
                await recorder.waitUntilReleased()
                #expect(recorder.disorder == 0)
                #expect(recorder.failure == nil)
                #expect(recorder.values == [1] || recorder.values.isEmpty)
                if recorder.isOver || index.isMultiple(of: 4) {
                    #expect(recorder.values == [1])
                    #expect(recorder.isFinished)
                }
            }
        }
    }
#endif
