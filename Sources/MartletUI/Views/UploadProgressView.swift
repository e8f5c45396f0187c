#if canImport(SwiftUI)
    public import Martlet
    public import SwiftUI

    /// A progress bar for an upload, with a description that VoiceOver reads as its value.
    ///
    /// ```swift
    /// let monitor = TransferMonitor()
    /// UploadProgressView(monitor)
    /// ```
    public struct UploadProgressView: View {
        private let monitor: TransferMonitor?
        @State private var followed: UploadProgress
        private let given: UploadProgress?

        /// Creates a bar that shows the given progress.
        public init(_ progress: UploadProgress) {
            monitor = nil
            given = progress
            _followed = State(initialValue: progress)
        }

        /// Creates a bar that follows a monitor until its call ends.
        public init(_ monitor: TransferMonitor) {
            self.monitor = monitor
            given = nil
            _followed = State(initialValue: UploadProgress(monitor))
        }

        /// The bar and its description.
        public var body: some View {
            let progress = given ?? followed
            ProgressView(value: progress.fraction) {
                Text(progress.label)
                    .font(.callout)
                    .foregroundStyle(.secondary)
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Wording.uploading.text)
            .accessibilityValue(progress.label)
            .accessibilityAddTraits(.updatesFrequently)
            .task(id: monitor.map { ObjectIdentifier($0) }) {
                guard let monitor else { return }
                followed = UploadProgress(monitor)
                for await event in monitor.events { followed.apply(event) }
            }
        }
    }
#endif
