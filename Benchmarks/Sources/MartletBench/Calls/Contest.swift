internal import Foundation

/// A client's process in a contest, with what was measured so far.
final class Entrant {
    struct FailedCallsError: Error, CustomStringConvertible {
        let lane: Lane
        let failures: Int
        var description: String { "\(failures) calls of \(lane) failed" }
    }

    let lane: Lane
    private let dialogue: Dialogue
    private(set) var slices: [Slice] = []

    init(_ lane: Lane, port: Int, on core: Int? = nil) throws {
        self.lane = lane
        dialogue = try Dialogue(Children.own, ["client"] + lane.arguments + ["--port", "\(port)"], on: core)
    }

    /// Makes calls that are measured but not recorded.
    @discardableResult
    func warmUp(_ calls: Int) throws -> Slice {
        let slice = try JSONDecoder().decode(Slice.self, from: try dialogue.ask("\(calls)"))
        guard slice.failures == 0 else { throw FailedCallsError(lane: lane, failures: slice.failures) }
        return slice
    }

    func run(_ calls: Int) throws {
        slices.append(try warmUp(calls))
    }

    /// Ends the process. The measurements remain.
    func close() { dialogue.close() }
}

/// Clients that take turns in short slices, so that other load slows all of them down equally.
struct Contest {
    /// A label that distinguishes the contest from the others in its table.
    let label: String
    let entrants: [Entrant]

    /// - Parameter calls: The number of calls in a slice of a client.
    init(
        _ label: String, _ lanes: [Lane], port: Int, on core: Int? = nil, rounds: Int, calls: (Lane) -> Int
    ) throws {
        self.label = label
        entrants = try lanes.map { try Entrant($0, port: port, on: core) }
        for entrant in entrants { try entrant.warmUp(calls(entrant.lane) / 2 + 1) }
        for round in 0..<rounds {
            // Alternate the order, because what runs before a client may help or hinder it.
            for entrant in round.isMultiple(of: 2) ? entrants : entrants.reversed() {
                try entrant.run(calls(entrant.lane))
            }
        }
        for entrant in entrants { entrant.close() }
    }

    func entrant(_ client: ClientName) -> Entrant? { entrants.first { $0.lane.client == client } }

    /// The client that an entrant is compared with.
    func rival(of entrant: Entrant) -> Entrant? {
        if let rival = entrant.lane.client.rival.flatMap({ self.entrant($0) }) { return rival }
        // In a contest of one client with different settings, compare with its first entrant.
        let first = entrants.first { $0.lane.client == entrant.lane.client }
        return first === entrant ? nil : first
    }

    /// A figure of a client relative to another client's, for each pair of neighboring slices, sorted.
    func ratios(
        _ figure: (Slice) -> Double, _ client: ClientName, to rival: ClientName
    ) -> [Double] {
        guard let client = entrant(client), let rival = entrant(rival) else { return [] }
        return Self.ratios(figure, client, to: rival)
    }

    static func ratios(_ figure: (Slice) -> Double, _ entrant: Entrant, to rival: Entrant) -> [Double] {
        zip(entrant.slices, rival.slices).map { figure($0) / figure($1) }.sorted()
    }
}
