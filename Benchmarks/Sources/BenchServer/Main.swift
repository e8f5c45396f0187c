internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A minimal server in a process of its own, so that its CPU time is not counted as the client's.
///
/// It listens on a free loopback port, prints that port, and exits when its standard input is closed, so that it never
/// outlives its parent.
@main
enum BenchServer {
    static func main() throws {
        // Use one thread: the other cores are free for the clients, and the backend needs no lock.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let backend = NIOLoopBoundBox.makeBoxSendingValue(Backend(), eventLoop: loop)
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            // Large buffers for large bodies: with small ones, the server would be the bottleneck.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 128 * 1024))
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 * 1024, high: 1024 * 1024))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(TransferHandler())
                    try channel.pipeline.syncOperations.addHandler(RequestHandler(backend))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .wait()
        // Not `print`, which buffers if standard output is a pipe.
        FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
        while readLine() != nil {}
        try group.syncShutdownGracefully()
    }
}
