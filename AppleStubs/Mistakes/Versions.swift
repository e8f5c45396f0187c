// Code that needs newer systems than the oldest supported ones.

internal import CoreGraphics
internal import Foundation
internal import SwiftUI
internal import Synchronization

func text(_ bytes: [UInt8]) -> String? {
    String(validating: bytes, as: UTF8.self)  // too new: String.init(validating:as:)
}

func counter() -> Bool {
    Atomic(0).load(ordering: .relaxed) == 0  // too new: Atomic.init(_:)
}

func context(_ space: CGColorSpace, _ info: CGBitmapInfo) -> CGContext? {
    // too new: CGContext.init(data:width:height:bitsPerComponent:bytesPerRow:space:bitmapInfo:)
    CGContext(data: nil, width: 1, height: 1, bitsPerComponent: 8, bytesPerRow: 4, space: space, bitmapInfo: info)
}

func textOrNothing(_ bytes: [UInt8]) -> String? {
    String(bytes: bytes, encoding: .utf8)
}

@MainActor func nothingThere() -> some View {
    ContentUnavailableView("Nothing", systemImage: "tray")  // too new: ContentUnavailableView.init(_:systemImage:description:)
}
