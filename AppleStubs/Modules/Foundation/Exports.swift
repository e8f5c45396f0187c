// Apple's Foundation consists of the same code and re-exports these modules too.
@_exported public import CoreFoundation
@_exported public import Darwin
@_exported public import Dispatch
@_exported public import FoundationEssentials
@_exported public import ObjectiveC
