internal import Testing

/// All tests of this target, one after the other: each starts a backend and makes up to a thousand calls, so that side by
/// side they would measure how busy the machine is.
@Suite("End to end", .serialized, .timeLimit(.minutes(2)))
enum EndToEnd {}
