#if !os(Linux) || URLSession || !AsyncHTTPClient
    public import Foundation

    extension TransferMonitor {
        /// What goes in which direction.
        public enum Direction: Sendable, Hashable {
            /// The body of the request.
            case upload
            /// The answer, of a download or a stream.
            case download
        }

        /// A `Foundation.Progress` that follows one direction until the call ends or the progress is released, for a progress
        /// bar or as the child of another progress.
        ///
        /// Its unit is the byte; of a body without bytes it is one, which is done. It is indeterminate until the number of
        /// bytes is known, and begins anew with each attempt.
        /// It cannot be cancelled: cancel the task that makes the call.
        ///
        /// Not on Linux without the trait `URLSession`, where it would bring all of Foundation along.
        public func progress(of direction: Direction) -> Progress {
            let progress = Progress(totalUnitCount: -1)
            progress.isCancellable = false
            progress.isPausable = false
            let events = events
            let shown = Shown(progress)
            Task {
                for await event in events {
                    guard shown.show(event, of: direction) else { return }
                }
            }
            return progress
        }

        /// Lets go of the progress when nobody else holds it.
        private final class Shown: @unchecked Sendable {
            // `Progress` may be used on any thread (its documentation), and a weak reference is read and cleared
            // atomically; it is set only in `init`.
            private weak var progress: Progress?

            init(_ progress: Progress) { self.progress = progress }

            /// - Returns: Whether there is somebody to show it to.
            func show(_ event: TransferEvent, of direction: Direction) -> Bool {
                guard let progress else { return false }
                switch (event, direction) {
                case (.attempt, _):
                    progress.totalUnitCount = -1
                    progress.completedUnitCount = 0
                case (.sent(let count), .upload), (.received(let count), .download):
                    // Of nothing, a progress would be indeterminate, and never finished.
                    let isEmpty = count.total == 0
                    // The total first: a count beyond the total would make it more than finished.
                    progress.totalUnitCount = isEmpty ? 1 : count.total ?? -1
                    progress.completedUnitCount = isEmpty ? 1 : count.completed
                case (.sent, .download), (.received, .upload):
                    break
                }
                return true
            }
        }
    }
#endif
