// Apple's Foundation is made of the same code, and re-exports these as well.
@_exported public import CoreFoundation
@_exported public import Darwin
@_exported public import Dispatch
@_exported public import FoundationEssentials
@_exported public import ObjectiveC
