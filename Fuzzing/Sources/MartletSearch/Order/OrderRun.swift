import MartletTesting
import TrapReporting

/// Plays random worlds of processes that share a store.
struct OrderRun {
    let first: UInt64
    /// The number of worlds of each setting.
    let worlds: Int
    let stopsAtFirst: Bool

    /// Prints the story of the first violation of each setting, the features of the worlds, and the number of
    /// violations.
    /// - Returns: Whether there are violations.
    func run() -> Bool {
        let start = ContinuousClock.now
        var violations = 0
        var worldsWith: [OrderWorld.Feature: Int] = [:]
        for setting in OrderWorld.Setting.all {
            var found = 0
            for seed in first..<first + UInt64(worlds) {
                TrapReporter.begin { "\(setting.words), seed \(seed)" }
                let world = OrderWorld(setting, seed: seed)
                let violation = world.play()
                for feature in world.features { worldsWith[feature, default: 0] += 1 }
                guard violation != nil else { continue }
                if found == 0 { tell(setting, seed) }
                found += 1
                if stopsAtFirst { return true }
            }
            violations += found
        }
        let count = worlds * OrderWorld.Setting.all.count
        for feature in OrderWorld.Feature.allCases {
            print("  \(feature.rawValue): \(100 * worldsWith[feature, default: 0] / count) % of the worlds")
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        print(
            "\(count) random worlds of processes with one store in \(seconds) s, "
                + "\(violations) violations")
        return violations > 0
    }

    private func tell(_ setting: OrderWorld.Setting, _ seed: UInt64) {
        let world = OrderWorld(setting, seed: seed, isTold: true)
        let violation = world.play() ?? "the second run of the same seed has found nothing"
        print("VIOLATION  \(violation)\n\(setting.words); seed \(seed)")
        for line in world.story ?? [] { print("  \(line)") }
        print("")
    }
}
