// Modules that only some of Apple platforms have.

#if os(tvOS)
    internal import PhotosUI  // mistake on tvOS: no such module
#endif
