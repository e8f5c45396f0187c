#if !canImport(FoundationNetworking)
    internal import Foundation

    extension URLSessionExchanges {
        // Called before the task ends, so that the observer sees the metrics with the response.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            guard let exchange = exchange(for: task), let last = metrics.transactionMetrics.last else { return }
            if last.countOfRequestHeaderBytesSent > 0 { exchange.noteSentHead() }
            exchange.recorder?.update { $0 = TransferMetrics(last, after: $0) }
        }
    }

    extension TransferMetrics {
        /// - Parameter measured: The client's own measurements, for values that the session does not know.
        fileprivate init(_ metrics: URLSessionTaskTransactionMetrics, after measured: TransferMetrics) {
            func time(_ start: Date?, _ end: Date?) -> Duration? {
                guard let start, let end else { return nil }
                return .seconds(max(end.timeIntervalSince(start), 0))
            }
            self = measured
            nameLookup = time(metrics.domainLookupStartDate, metrics.domainLookupEndDate)
            connecting = time(metrics.connectStartDate, metrics.connectEndDate)
            tls = time(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
            firstByte = time(metrics.fetchStartDate, metrics.responseStartDate) ?? measured.firstByte
            receiving = time(metrics.responseStartDate, metrics.responseEndDate)
            headerBytesSent = metrics.countOfRequestHeaderBytesSent
            bodyBytesSent = metrics.countOfRequestBodyBytesSent
            headerBytesReceived = metrics.countOfResponseHeaderBytesReceived
            bodyBytesReceived = metrics.countOfResponseBodyBytesReceived
            isReused = metrics.isReusedConnection
            protocolName = metrics.networkProtocolName
        }
    }
#endif
