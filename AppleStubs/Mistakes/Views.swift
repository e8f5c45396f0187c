// Code that SwiftUI rejects.

internal import Accessibility
internal import Combine
internal import CoreTransferable
internal import Foundation
internal import PhotosUI
internal import SwiftUI

struct WithoutBody: View {}  // mistake: does not conform to protocol 'View'

final class Plain {}

struct Watching: View {
    @ObservedObject var plain: Plain  // mistake: requires that 'Plain' conform to 'ObservableObject'
    var body: EmptyView { EmptyView() }
}

@MainActor final class Model: ObservableObject {
    @Published var name = ""
}

struct Controls: View {
    @State private var name = ""
    @ObservedObject var model: Model
    @State private var item: PhotosPickerItem?

    var body: some View {
        TextField("Name", text: $name)
        TextField("Name", text: $model.name)
    }

    var button: some View {
        Button("Delete", role: .danger) {}  // mistake: has no member 'danger'
    }

    var field: some View {
        TextField("Name", text: name)  // mistake: to expected type 'Binding<String>', use wrapper instead
    }

    var progress: some View {
        ProgressView(fraction: 0.5) { Text("Half") }  // mistake: argument passed to call that takes no arguments
    }

    var picker: some View {
        PhotosPicker(selected: $item) { Text("Choose") }  // mistake: incorrect argument label
    }

    var title: some View {
        Text("Name").accessibilityTraits(.isHeader)  // mistake: has no member 'accessibilityTraits'
    }
}

func setsFromAnywhere(_ model: Model) {
    model.name = "Ada"  // mistake: can not be mutated from a nonisolated context
}

func binds(_ model: Model) -> Binding<String> {
    Binding(get: { model.name }, set: { _ in })  // mistake: can not be referenced from a Sendable closure
}

func loads(_ item: PhotosPickerItem) async throws -> Data {
    try await item.loadTransferable(type: Data.self)  // mistake: must be unwrapped
}

@available(iOS 17, macOS 14, *)
func says(_ number: Int) {
    AccessibilityNotification.Announcement(number).post()  // mistake: no exact matches in call to initializer
}
