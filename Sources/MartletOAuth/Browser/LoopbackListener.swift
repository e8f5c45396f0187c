#if canImport(CryptoKit) || Encryption
    #if os(macOS) || os(Linux)
        internal import Martlet
        internal import MartletLibc
        internal import MartletStorage

        /// Listens on 127.0.0.1 for the callback of one sign-in (RFC 8252, section 7.3).
        ///
        /// It waits on a thread of its own. All connections share that thread, and none of them can hold up the others.
        final class LoopbackListener: Sendable {
            let port: UInt16
            private let listener: Int32
            /// Two connected sockets. A byte that is sent to the second one wakes the thread.
            private let wakeUp: (receiving: Int32, sending: Int32)
            private let queue = BlockingQueue("martlet.oauth.loopback")
            private let isClosed = Locked(false)

            /// The maximum number of open connections. One more closes the oldest.
            static let maximumConnections = 32

            /// Begins to listen. The system queues what arrives before ``callback(_:opening:)``.
            /// - Parameter port: The port; 0 for a free one.
            static func listen(on port: UInt16) async throws(OAuthError) -> LoopbackListener {
                try await BlockingQueue.run { () throws(OAuthError) in try LoopbackListener(port) }
            }

            private init(_ wanted: UInt16) throws(OAuthError) {
                var pair: [Int32] = [-1, -1]
                let listener = socket(AF_INET, Self.stream, 0)
                let isPaired = socketpair(AF_UNIX, Self.stream, 0, &pair) == 0
                let isReady = ([listener] + pair).allSatisfy { $0 >= 0 && System.makeNonblocking($0) }
                guard isPaired, isReady, let port = Self.bind(listener, to: wanted) else {
                    let reason = String(cString: strerror(errno))
                    for descriptor in [listener] + pair where descriptor >= 0 { System.close(descriptor) }
                    throw OAuthError(
                        .unsupported,
                        "Cannot listen on port \(wanted) of 127.0.0.1 (\(reason)). Close the program that uses the port."
                    )
                }
                self.listener = listener
                self.port = port
                wakeUp = (pair[0], pair[1])
            }

            deinit {
                close()
            }

            /// Stops listening, and fails ``callback(_:opening:)``.
            func close() {
                let isFirst = isClosed.withLock { isClosed in
                    defer { isClosed = true }
                    return !isClosed
                }
                guard isFirst else { return }
                wake(wakeUp.sending)
                // The queue is serial: the descriptors stay open until its thread no longer uses them.
                queue.start { [listener, wakeUp] in
                    for descriptor in [listener, wakeUp.receiving, wakeUp.sending] { System.close(descriptor) }
                }
            }

            /// Waits for the callback.
            /// - Parameters:
            ///   - expected: The expectations of the callback. Other requests get an error and do not end the wait.
            ///   - open: Opens the browser. If it fails, so does this method.
            /// - Returns: The query of the callback.
            func callback(
                _ expected: LoopbackRequest.Expectation, opening open: @escaping @Sendable () async throws -> Void
            ) async throws -> String {
                let race = Race<String>()
                queue.start { [listener, wakeUp] in
                    var visitors = Visitors(listener: listener, wakeUp: wakeUp.receiving)
                    let query = visitors.waitForCallback(expected)
                    race.finish(query.map { .success($0) } ?? .failure(CancellationError()))
                }
                // Not awaited: a browser may run until its user closes it.
                let opening = Task {
                    do {
                        try await open()
                    } catch {
                        race.finish(.failure(error))
                    }
                }
                let result = await withTaskCancellationHandler {
                    await withCheckedContinuation { race.wait($0) }
                } onCancel: {
                    race.finish(.failure(CancellationError()))
                }
                if case .failure = result { opening.cancel() }
                close()
                return try result.get()
            }

            private func wake(_ descriptor: Int32) {
                var byte: UInt8 = 1
                _ = MartletLibc.send(descriptor, &byte, 1, Self.sendFlags)
            }

            /// - Returns: The port; `nil` if it is taken.
            private static func bind(_ listener: Int32, to port: UInt16) -> UInt16? {
                var isOn: Int32 = 1
                let size = socklen_t(MemoryLayout<Int32>.size)
                // A port whose last connection ended a moment ago is free.
                guard setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, size) == 0 else { return nil }
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        MartletLibc.bind(listener, address, length) == 0 && MartletLibc.listen(listener, 16) == 0
                            && getsockname(listener, address, &length) == 0
                    }
                }
                return isBound ? UInt16(bigEndian: address.sin_port) : nil
            }

            #if canImport(Glibc)
                private static let stream = Int32(SOCK_STREAM.rawValue)
            #else
                private static let stream = SOCK_STREAM
            #endif

            #if canImport(Darwin)
                fileprivate static let sendFlags = MSG_DONTWAIT
            #else
                /// A disconnected peer must not end the process with SIGPIPE.
                fileprivate static let sendFlags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            #endif
        }

        /// The connections of a listener. Used on one thread.
        private struct Visitors {
            private struct Connection {
                let descriptor: Int32
                var received: [UInt8] = []
            }

            let listener: Int32
            let wakeUp: Int32
            /// The oldest one first.
            private var connections: [Connection] = []

            init(listener: Int32, wakeUp: Int32) {
                self.listener = listener
                self.wakeUp = wakeUp
            }

            /// - Returns: The query of the callback; `nil` if the listener was closed first.
            mutating func waitForCallback(_ expectation: LoopbackRequest.Expectation) -> String? {
                var expected = expectation
                defer { for connection in connections { System.close(connection.descriptor) } }
                while true {
                    var polled = ([wakeUp, listener] + connections.map(\.descriptor)).map {
                        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
                    }
                    guard System.poll(&polled, timeout: -1) >= 0 || errno == EINTR else { return nil }
                    if polled[0].revents != 0 { return nil }
                    let ready = Set(polled.dropFirst(2).filter { $0.revents != 0 }.map(\.fd))
                    for descriptor in ready {
                        if let query = receive(from: descriptor, &expected) { return query }
                    }
                    if polled[1].revents != 0 { accept() }
                }
            }

            private mutating func accept() {
                let descriptor = MartletLibc.accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    // Without a free descriptor, the connection stays pending and the next poll returns at once.
                    if connections.isEmpty {
                        var none: [pollfd] = []
                        _ = System.poll(&none, timeout: 50)
                    } else if errno == EMFILE || errno == ENFILE {
                        System.close(connections.removeFirst().descriptor)
                    }
                    return
                }
                guard System.makeNonblocking(descriptor) else {
                    System.close(descriptor)
                    return
                }
                #if canImport(Darwin)
                    // A disconnected peer must not end the process with SIGPIPE.
                    var isOn: Int32 = 1
                    _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
                #endif
                if connections.count == LoopbackListener.maximumConnections {
                    System.close(connections.removeFirst().descriptor)
                }
                connections.append(Connection(descriptor: descriptor))
            }

            /// Reads what has arrived, and responds to a complete request.
            private mutating func receive(
                from descriptor: Int32, _ expected: inout LoopbackRequest.Expectation
            ) -> String? {
                guard let index = connections.firstIndex(where: { $0.descriptor == descriptor }) else { return nil }
                var buffer = [UInt8](repeating: 0, count: LoopbackRequest.maximumSize)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else {
                    if count == 0 || errno != EAGAIN && errno != EINTR {
                        System.close(connections.remove(at: index).descriptor)
                    }
                    return nil
                }
                connections[index].received += buffer[..<count]
                switch LoopbackRequest(connections[index].received, expected) {
                case .incomplete:
                    return nil
                case .refused(let status):
                    respond(status, to: index)
                    return nil
                case .start(let location):
                    // Redirect only once. Another program may read the start URL in the process list, but then gets no
                    // redirect.
                    expected.start = nil
                    respond(303, to: index, location: location)
                    return nil
                case .callback(let query):
                    respond(200, to: index)
                    return query
                }
            }

            private mutating func respond(_ status: Int, to index: Int, location: String? = nil) {
                let connection = connections.remove(at: index)
                // The response fits into the buffer of a new connection.
                let response = LoopbackPage.response(status: status, location: location)
                _ = send(connection.descriptor, response, response.count, LoopbackListener.sendFlags)
                shutdown(connection.descriptor, Int32(SHUT_WR))
                System.close(connection.descriptor)
            }
        }
    #endif
#endif
