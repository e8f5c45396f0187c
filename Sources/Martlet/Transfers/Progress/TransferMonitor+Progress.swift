#if !os(Linux) || URLSession || !AsyncHTTPClient
    public import Foundation

    extension TransferMonitor {
        /// A `Foundation.Progress` of the request body, for a progress bar or as the child of another progress.
        ///
        /// It counts bytes, and is indeterminate until their number is known. An empty body counts as one unit that is
        /// done. The progress restarts with each attempt, and ends with the call. It cannot be cancelled: cancel the
        /// task of the call instead.
        ///
        /// Not available on Linux without the trait `URLSession`, because it would add all of Foundation to the app.
        public func uploadProgress() -> Progress {
            progress { event in
                if case .sent(let count) = event { count } else { nil }
            }
        }

        /// A `Foundation.Progress` of the response body. See ``uploadProgress()``.
        public func downloadProgress() -> Progress {
            progress { event in
                if case .received(let count) = event { count } else { nil }
            }
        }

        private func progress(_ count: @escaping @Sendable (TransferEvent) -> TransferCount?) -> Progress {
            let progress = Progress(totalUnitCount: -1)
            progress.isCancellable = false
            progress.isPausable = false
            let events = events
            let updater = ProgressUpdater(progress)
            Task {
                for await event in events {
                    guard updater.apply(event, count(event)) else { return }
                }
            }
            return progress
        }

        /// Updates a progress without retaining it.
        ///
        /// `@unchecked Sendable` is correct because `Progress` is thread-safe by its documentation, and the weak
        /// reference is read and cleared atomically and set only in `init`.
        private final class ProgressUpdater: @unchecked Sendable {
            private weak var progress: Progress?

            init(_ progress: Progress) { self.progress = progress }

            /// - Returns: Whether the progress is still in use.
            func apply(_ event: TransferEvent, _ count: TransferCount?) -> Bool {
                guard let progress else { return false }
                if case .attempt = event {
                    progress.totalUnitCount = -1
                    progress.completedUnitCount = 0
                }
                if let count {
                    // A progress with a total of 0 would stay indeterminate.
                    let isEmpty = count.total == 0
                    // Set the total first: with a smaller total, the progress would exceed it.
                    progress.totalUnitCount = isEmpty ? 1 : count.total ?? -1
                    progress.completedUnitCount = isEmpty ? 1 : count.completed
                }
                return true
            }
        }
    }
#endif
