internal import Testing

/// All tests of this target. Serialized, because each starts a backend and makes up to a thousand calls: in parallel,
/// they would measure the load of the machine.
@Suite("End to end", .serialized, .timeLimit(.minutes(10)))
enum EndToEnd {}
