internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A server that costs as little as it can, in a process of its own: what it uses is not counted as the client's.
///
/// It listens on a free port of the loopback, prints that port and ends when its standard input does, so that it never
/// outlives who started it.
@main
enum BenchServer {
    static func main() throws {
        // One thread: it leaves the other cores to the clients, and the backend needs no lock.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let backend = NIOLoopBoundBox.makeBoxSendingValue(Backend(), eventLoop: loop)
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            // What a large body comes and goes in: with small pieces the server would be the bottleneck.
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
        // Not print, which keeps to itself what goes into a pipe.
        FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
        while readLine() != nil {}
        try group.syncShutdownGracefully()
    }
}
