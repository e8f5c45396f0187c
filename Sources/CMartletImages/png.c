#include "reader.h"

#if MARTLET_IMAGE_CODECS

#if !__has_include(<png.h>)
#error "The trait ImageCodecs needs libpng. Debian, Ubuntu: apt-get install libjpeg-dev libpng-dev libwebp-dev liblcms2-dev"
#endif

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

typedef struct {
    martlet_reader base;
    png_structp codec;
    png_infop info;
    martlet_problem *problem;
    const uint8_t *bytes;
    size_t left;
    /// All pixels of an interlaced picture.
    uint8_t *pixels;
    size_t next;
} png_reader;

static void png_fail(png_structp codec, png_const_charp reason) {
    martlet_problem *problem = *(martlet_problem **)png_get_error_ptr(codec);
    martlet_fail(problem, strstr(reason, "emory") ? martlet_status_no_memory : martlet_status_damaged, reason);
    png_longjmp(codec, 1);
}

static void png_ignore(png_structp codec, png_const_charp reason) {
    (void)codec;
    (void)reason;
}

static void png_take(png_structp codec, png_bytep target, size_t count) {
    png_reader *reader = png_get_io_ptr(codec);
    if (count > reader->left) png_error(codec, "it ends early");
    memcpy(target, reader->bytes, count);
    reader->bytes += count;
    reader->left -= count;
}

static martlet_status png_read(martlet_reader *base, uint8_t *row, martlet_problem *problem) {
    png_reader *reader = (png_reader *)base;
    size_t stride = base->layout.width * base->layout.channels;
    if (reader->next >= base->layout.height) {
        return martlet_fail(problem, martlet_status_damaged, "there are no more rows");
    }
    if (reader->pixels) {
        memcpy(row, reader->pixels + reader->next * stride, stride);
    } else {
        reader->problem = problem;
        if (setjmp(png_jmpbuf(reader->codec))) return problem->status;
        png_read_row(reader->codec, row, NULL);
    }
    reader->next++;
    return martlet_status_good;
}

static void png_close(martlet_reader *base) {
    png_reader *reader = (png_reader *)base;
    png_destroy_read_struct(&reader->codec, &reader->info, NULL);
    free(reader->pixels);
    free(reader);
}

/// Stores the color space in the layout: the profile, or gamma and primaries unless the picture is marked as sRGB.
static void png_note_color(png_reader *reader) {
    martlet_layout *layout = &reader->base.layout;
    png_charp name;
    png_bytep profile;
    png_uint_32 length;
    int method;
    if (png_get_iCCP(reader->codec, reader->info, &name, &method, &profile, &length)) {
        layout->profile = profile;
        layout->profile_length = length;
        return;
    }
    int intent;
    if (png_get_sRGB(reader->codec, reader->info, &intent)) return;
    png_fixed_point gamma;
    if (png_get_gAMA_fixed(reader->codec, reader->info, &gamma) && gamma > 0) layout->gamma = (uint32_t)gamma;
    png_fixed_point xy[8];
    if (png_get_cHRM_fixed(reader->codec, reader->info, &xy[0], &xy[1], &xy[2], &xy[3], &xy[4], &xy[5], &xy[6],
                           &xy[7])) {
        for (int i = 0; i < 8; i++) layout->primaries[i] = xy[i] > 0 ? (uint32_t)xy[i] : 0;
    }
}

/// Reads an interlaced picture completely.
static void png_read_all(png_reader *reader, int passes) {
    size_t stride = reader->base.layout.width * reader->base.layout.channels;
    reader->pixels = calloc(reader->base.layout.height, stride);
    if (!reader->pixels) png_error(reader->codec, "not enough memory");
    for (int pass = 0; pass < passes; pass++) {
        for (size_t row = 0; row < reader->base.layout.height; row++) {
            png_read_row(reader->codec, reader->pixels + row * stride, NULL);
        }
    }
}

martlet_reader *martlet_open_png(const uint8_t *bytes, size_t count, martlet_size allowed, martlet_problem *problem) {
    png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        martlet_fail(problem, martlet_status_no_memory, "not enough memory");
        return NULL;
    }
    reader->problem = problem;
    reader->bytes = bytes;
    reader->left = count;
    reader->base.read = png_read;
    reader->base.close = png_close;
    reader->codec = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader->problem, png_fail, png_ignore);
    reader->info = reader->codec ? png_create_info_struct(reader->codec) : NULL;
    if (!reader->info) {
        png_close(&reader->base);
        martlet_fail(problem, martlet_status_no_memory, "not enough memory");
        return NULL;
    }
    png_structp codec = reader->codec;
    if (setjmp(png_jmpbuf(codec))) {
        png_close(&reader->base);
        return NULL;
    }
    png_set_read_fn(codec, reader, png_take);
    // Disable libpng's own limits, because the caller has checked the size.
    png_set_user_limits(codec, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // 1 skips all texts, suggested palettes and unknown chunks. They are not used here, and a thousand of them could
    // take up to 8 MB each when decompressed.
    png_set_chunk_cache_max(codec, 1);
    png_read_info(codec, reader->info);
    if (!martlet_is_allowed(png_get_image_width(codec, reader->info), png_get_image_height(codec, reader->info),
                            allowed, problem)) {
        png_close(&reader->base);
        return NULL;
    }
    png_set_expand(codec);
    png_set_scale_16(codec);
    int passes = png_set_interlace_handling(codec);
    png_read_update_info(codec, reader->info);
    martlet_layout *layout = &reader->base.layout;
    layout->width = png_get_image_width(codec, reader->info);
    layout->height = png_get_image_height(codec, reader->info);
    layout->channels = png_get_channels(codec, reader->info);
    if (png_get_rowbytes(codec, reader->info) != layout->width * layout->channels) {
        png_error(codec, "it has rows of an unexpected length");
    }
    png_note_color(reader);
    if (passes > 1) png_read_all(reader, passes);
    return &reader->base;
}

typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} png_output;

static void png_put(png_structp codec, png_bytep bytes, size_t count) {
    png_output *output = png_get_io_ptr(codec);
    if (output->capacity - output->count < count) {
        size_t capacity = (output->capacity + count) * 2;
        uint8_t *grown = realloc(output->bytes, capacity);
        if (!grown) png_error(codec, "not enough memory");
        output->bytes = grown;
        output->capacity = capacity;
    }
    memcpy(output->bytes + output->count, bytes, count);
    output->count += count;
}

static void png_flush_nothing(png_structp codec) {
    (void)codec;
}

static martlet_status png_run_writer(png_structp codec, png_infop info, png_output *output, const uint8_t *pixels,
                                     size_t width, size_t height, size_t channels, martlet_problem *problem) {
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(codec))) return problem->status;
    png_set_write_fn(codec, output, png_put, png_flush_nothing);
    png_set_user_limits(codec, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(codec, info, (png_uint_32)width, (png_uint_32)height, 8, types[channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(codec, info);
    for (size_t row = 0; row < height; row++) png_write_row(codec, pixels + row * width * channels);
    png_write_end(codec, info);
    return martlet_status_good;
}

martlet_status martlet_write_png(const uint8_t *pixels, size_t width, size_t height, size_t channels, uint8_t **result,
                                 size_t *length, martlet_problem *problem) {
    png_output output = {0};
    png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, &problem, png_fail, png_ignore);
    png_infop info = codec ? png_create_info_struct(codec) : NULL;
    martlet_status status = martlet_status_no_memory;
    if (info) {
        status = png_run_writer(codec, info, &output, pixels, width, height, channels, problem);
    } else {
        martlet_fail(problem, status, "not enough memory");
    }
    png_destroy_write_struct(&codec, &info);
    if (status == martlet_status_good) {
        *result = output.bytes;
        *length = output.count;
    } else {
        free(output.bytes);
    }
    return status;
}

#endif
