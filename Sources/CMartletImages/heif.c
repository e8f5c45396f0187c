#include "reader.h"

#if MARTLET_IMAGE_CODECS

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Declarations for the used part of libheif's C API. The library is opened at first use, so a program builds and starts
// without it.

typedef struct {
    int code;
    int subcode;
    const char *message;
} heif_error;

/// The first two fields of `heif_security_limits`. Their layout is stable across versions.
typedef struct {
    uint8_t version;
    uint64_t pixels;
} heif_limits;

enum { heif_rgb = 1, heif_interleaved_rgb = 10, heif_interleaved_rgba = 11, heif_channel_interleaved = 10 };

typedef struct {
    void *(*make)(void);
    void (*release)(void *context);
    heif_error (*read)(void *context, const void *bytes, size_t count, const void *options);
    heif_error (*primary)(void *context, void **handle);
    void (*release_handle)(const void *handle);
    int (*width)(const void *handle);
    int (*height)(const void *handle);
    int (*has_alpha)(const void *handle);
    /// `NULL` before libheif 1.12.
    int (*is_premultiplied)(const void *handle);
    size_t (*profile_length)(const void *handle);
    heif_error (*profile)(const void *handle, void *bytes);
    heif_error (*decode)(const void *handle, void **image, int space, int chroma, const void *options);
    const uint8_t *(*plane)(const void *image, int channel, int *stride);
    int (*image_width)(const void *image, int channel);
    int (*image_height)(const void *image, int channel);
    void (*release_image)(const void *image);
    /// `NULL` before libheif 1.19.
    heif_limits *(*limits)(const void *context);
} heif_library;

typedef struct {
    martlet_memory_reader base;
    const heif_library *library;
    void *context;
    void *handle;
    void *image;
    uint8_t *profile;
} heif_reader;

static heif_library loaded;
static int is_loaded;

static void heif_load(void) {
    void *file = dlopen("libheif.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!file) return;
    struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"heif_context_alloc", &loaded.make},
        {"heif_context_free", &loaded.release},
        {"heif_context_read_from_memory_without_copy", &loaded.read},
        {"heif_context_get_primary_image_handle", &loaded.primary},
        {"heif_image_handle_release", &loaded.release_handle},
        {"heif_image_handle_get_width", &loaded.width},
        {"heif_image_handle_get_height", &loaded.height},
        {"heif_image_handle_has_alpha_channel", &loaded.has_alpha},
        {"heif_image_handle_get_raw_color_profile_size", &loaded.profile_length},
        {"heif_image_handle_get_raw_color_profile", &loaded.profile},
        {"heif_decode_image", &loaded.decode},
        {"heif_image_get_plane_readonly", &loaded.plane},
        {"heif_image_get_width", &loaded.image_width},
        {"heif_image_get_height", &loaded.image_height},
        {"heif_image_release", &loaded.release_image},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(file, symbols[i].name);
        if (!symbol) return;
        memcpy(symbols[i].place, &symbol, sizeof symbol);
    }
    void *limits = dlsym(file, "heif_context_get_security_limits");
    if (limits) memcpy(&loaded.limits, &limits, sizeof limits);
    void *is_premultiplied = dlsym(file, "heif_image_handle_is_premultiplied_alpha");
    if (is_premultiplied) memcpy(&loaded.is_premultiplied, &is_premultiplied, sizeof is_premultiplied);
    is_loaded = 1;
}

static const heif_library *heif_get(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, heif_load);
    return is_loaded ? &loaded : NULL;
}

/// Reads a row with premultiplied alpha, which libheif reports but does not undo.
static martlet_status heif_read_premultiplied(martlet_reader *base, uint8_t *row, martlet_problem *problem) {
    martlet_status status = martlet_read_memory(base, row, problem);
    if (status == martlet_status_good) martlet_unpremultiply(row, base->layout.width, base->layout.channels);
    return status;
}

static void heif_close(martlet_reader *base) {
    heif_reader *reader = (heif_reader *)base;
    if (reader->image) reader->library->release_image(reader->image);
    if (reader->handle) reader->library->release_handle(reader->handle);
    if (reader->context) reader->library->release(reader->context);
    free(reader->profile);
    free(reader);
}

static void heif_note_profile(heif_reader *reader) {
    size_t length = reader->library->profile_length(reader->handle);
    if (length == 0 || length > 16 * 1024 * 1024) return;
    reader->profile = malloc(length);
    if (!reader->profile || reader->library->profile(reader->handle, reader->profile).code) return;
    reader->base.base.layout.profile = reader->profile;
    reader->base.base.layout.profile_length = length;
}

/// @param allowed The size to decode; `NULL` to read only the properties.
/// @param coded The largest coded size of any part.
static int heif_fill(heif_reader *reader, const uint8_t *bytes, size_t count, const martlet_size *allowed,
                     martlet_size coded, martlet_problem *problem) {
    const heif_library *library = reader->library;
    martlet_layout *layout = &reader->base.base.layout;
    reader->context = library->make();
    if (!reader->context) {
        martlet_fail(problem, martlet_status_no_memory, "not enough memory");
        return 0;
    }
    heif_limits *limits = allowed && library->limits ? library->limits(reader->context) : NULL;
    if (limits) {
        uint64_t shown = (uint64_t)allowed->width * allowed->height;
        uint64_t pixels = (uint64_t)coded.width * coded.height;
        // Decoders check the limit before they allocate memory. 0 means no limit.
        limits->pixels = pixels > shown ? pixels : shown;
    }
    heif_error error = library->read(reader->context, bytes, count, NULL);
    if (!error.code) error = library->primary(reader->context, &reader->handle);
    if (!error.code) {
        layout->width = (size_t)library->width(reader->handle);
        layout->height = (size_t)library->height(reader->handle);
        layout->channels = library->has_alpha(reader->handle) ? 4 : 3;
        if (!allowed) return 1;
        if (!martlet_is_allowed(layout->width, layout->height, *allowed, problem)) return 0;
        int chroma = layout->channels == 4 ? heif_interleaved_rgba : heif_interleaved_rgb;
        error = library->decode(reader->handle, &reader->image, heif_rgb, chroma, NULL);
    }
    if (error.code) {
        // Codes of libheif: 3 and 4 for unsupported file types and features, 11 for a missing plug-in.
        int is_unknown = error.code == 3 || error.code == 4 || error.code == 11;
        martlet_fail(problem, is_unknown ? martlet_status_unsupported : martlet_status_damaged,
                     error.message ? error.message : "libheif cannot read it");
        return 0;
    }
    int stride = 0;
    reader->base.pixels = library->plane(reader->image, heif_channel_interleaved, &stride);
    int width = library->image_width(reader->image, heif_channel_interleaved);
    int height = library->image_height(reader->image, heif_channel_interleaved);
    if (!reader->base.pixels || width <= 0 || height <= 0 || (size_t)stride < (size_t)width * layout->channels) {
        martlet_fail(problem, martlet_status_damaged, "libheif yields no pixels");
        return 0;
    }
    // Some versions of libheif return the coded size, if it is larger than the displayed size.
    if ((size_t)width > allowed->width || (size_t)height > allowed->height) {
        return martlet_is_allowed((size_t)width, (size_t)height, *allowed, problem);
    }
    reader->base.stride = (size_t)stride;
    layout->width = (size_t)width;
    layout->height = (size_t)height;
    if (layout->channels == 4 && library->is_premultiplied && library->is_premultiplied(reader->handle)) {
        reader->base.base.read = heif_read_premultiplied;
    }
    heif_note_profile(reader);
    return 1;
}

static martlet_reader *heif_open(const uint8_t *bytes, size_t count, const martlet_size *allowed, martlet_size coded,
                                 martlet_problem *problem) {
    const heif_library *library = heif_get();
    if (!library) {
        martlet_fail(problem, martlet_status_missing, "libheif is not installed");
        return NULL;
    }
    heif_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        martlet_fail(problem, martlet_status_no_memory, "not enough memory");
        return NULL;
    }
    reader->library = library;
    reader->base.base.read = martlet_read_memory;
    reader->base.base.close = heif_close;
    if (!heif_fill(reader, bytes, count, allowed, coded, problem)) {
        heif_close(&reader->base.base);
        return NULL;
    }
    return &reader->base.base;
}

martlet_reader *martlet_inspect_heif(const uint8_t *bytes, size_t count, martlet_problem *problem) {
    return heif_open(bytes, count, NULL, (martlet_size){0, 0}, problem);
}

martlet_reader *martlet_open_heif(const uint8_t *bytes, size_t count, martlet_size allowed, martlet_size coded,
                                  martlet_problem *problem) {
    return heif_open(bytes, count, &allowed, coded, problem);
}

#endif
