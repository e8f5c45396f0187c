#if canImport(SwiftUI)
    internal import Combine
    internal import SwiftUI

    /// Updates its content whenever an observable object changes. Models that use the Observation framework need no
    /// such view.
    struct Observing<Object: ObservableObject, Content: View>: View {
        @ObservedObject private var object: Object
        private let content: () -> Content

        init(_ object: Object, @ViewBuilder content: @escaping () -> Content) {
            _object = ObservedObject(wrappedValue: object)
            self.content = content
        }

        var body: some View { content() }
    }
#endif
