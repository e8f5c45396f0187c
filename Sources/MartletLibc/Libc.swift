// The C library of the platform. Every target that calls it imports this module, so the list of platforms is needed
// only here. It is not a product, so apps cannot import it by accident.
#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
#endif

/// `flock(2)`, whose name is also that of a structure. Outside this module, a qualified name means the structure.
public func flockOfLibc(_ descriptor: Int32, _ operation: Int32) -> Int32 {
    flock(descriptor, operation)
}
