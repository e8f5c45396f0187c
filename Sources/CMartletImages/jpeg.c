#include "reader.h"

#if MARTLET_IMAGE_CODECS

#if !__has_include(<jpeglib.h>)
#error "The trait ImageCodecs needs libjpeg-turbo. Debian, Ubuntu: apt-get install libjpeg-dev libpng-dev libwebp-dev liblcms2-dev"
#endif

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/// The maximum number of scans. A malicious file can have many: each scan takes only a few bytes but as much time as
/// the whole picture.
enum { maximum_scans = 200 };

typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    martlet_problem *problem;
    /// Whether the library has replaced missing data.
    int is_damaged;
} jpeg_errors;

typedef struct {
    martlet_reader base;
    struct jpeg_decompress_struct codec;
    struct jpeg_progress_mgr progress;
    jpeg_errors errors;
    int inverts;
} jpeg_reader;

static void jpeg_error_exit(j_common_ptr codec) {
    jpeg_errors *errors = (jpeg_errors *)codec->err;
    char reason[JMSG_LENGTH_MAX];
    (*codec->err->format_message)(codec, reason);
    martlet_status status;
    switch (codec->err->msg_code) {
    case JERR_OUT_OF_MEMORY: status = martlet_status_no_memory; break;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED: status = martlet_status_unsupported; break;
    default: status = martlet_status_damaged; break;
    }
    martlet_fail(errors->problem, status, reason);
    longjmp(errors->escape, 1);
}

static void jpeg_message(j_common_ptr codec, int level) {
    if (level >= 0) return;
    // Only warnings about missing or damaged data count as errors.
    switch (codec->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_ARITH_BAD_CODE: break;
    default: return;
    }
    jpeg_errors *errors = (jpeg_errors *)codec->err;
    if (errors->is_damaged) return;
    errors->is_damaged = 1;
    char reason[JMSG_LENGTH_MAX];
    (*codec->err->format_message)(codec, reason);
    martlet_fail(errors->problem, martlet_status_damaged, reason);
}

static void jpeg_silence(j_common_ptr codec) {
    (void)codec;
}

static void jpeg_count_scans(j_common_ptr codec) {
    if (!codec->is_decompressor || ((j_decompress_ptr)codec)->input_scan_number <= maximum_scans) return;
    jpeg_errors *errors = (jpeg_errors *)codec->err;
    martlet_fail(errors->problem, martlet_status_damaged, "it has far too many scans");
    longjmp(errors->escape, 1);
}

static struct jpeg_error_mgr *jpeg_prepare(jpeg_errors *errors, martlet_problem *problem) {
    jpeg_std_error(&errors->base);
    errors->base.error_exit = jpeg_error_exit;
    errors->base.emit_message = jpeg_message;
    errors->base.output_message = jpeg_silence;
    errors->problem = problem;
    return &errors->base;
}

static martlet_status jpeg_read(martlet_reader *base, uint8_t *row, martlet_problem *problem) {
    jpeg_reader *reader = (jpeg_reader *)base;
    reader->errors.problem = problem;
    if (setjmp(reader->errors.escape)) return problem->status;
    if (reader->codec.output_scanline >= reader->codec.output_height) {
        return martlet_fail(problem, martlet_status_damaged, "there are no more rows");
    }
    JSAMPROW rows[1] = {row};
    if (jpeg_read_scanlines(&reader->codec, rows, 1) != 1) {
        return martlet_fail(problem, martlet_status_damaged, "it ends early");
    }
    if (reader->errors.is_damaged) return martlet_status_damaged;
    if (reader->inverts) {
        for (size_t i = 0; i < base->layout.width * 4; i++) row[i] = (uint8_t)(255 - row[i]);
    }
    return martlet_status_good;
}

static void jpeg_close(martlet_reader *base) {
    jpeg_reader *reader = (jpeg_reader *)base;
    jpeg_destroy_decompress(&reader->codec);
    free(reader);
}

martlet_reader *martlet_open_jpeg(const uint8_t *bytes, size_t count, martlet_size allowed, unsigned eighths,
                                  martlet_problem *problem) {
    jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        martlet_fail(problem, martlet_status_no_memory, "not enough memory");
        return NULL;
    }
    struct jpeg_decompress_struct *codec = &reader->codec;
    codec->err = jpeg_prepare(&reader->errors, problem);
    if (setjmp(reader->errors.escape)) {
        jpeg_close(&reader->base);
        return NULL;
    }
    jpeg_create_decompress(codec);
    reader->progress.progress_monitor = jpeg_count_scans;
    codec->progress = &reader->progress;
    jpeg_mem_src(codec, (unsigned char *)bytes, count);
    jpeg_read_header(codec, TRUE);
    if (!martlet_is_allowed(codec->image_width, codec->image_height, allowed, problem)) {
        jpeg_close(&reader->base);
        return NULL;
    }
    codec->scale_num = eighths;
    codec->scale_denom = 8;
    switch (codec->jpeg_color_space) {
    case JCS_GRAYSCALE: codec->out_color_space = JCS_GRAYSCALE; break;
    case JCS_CMYK:
    case JCS_YCCK:
        codec->out_color_space = JCS_CMYK;
        // Adobe's programs write 255 for no ink. The standard does not define it, and other programs write the
        // opposite.
        reader->inverts = !codec->saw_Adobe_marker;
        break;
    default: codec->out_color_space = JCS_RGB; break;
    }
    jpeg_start_decompress(codec);
    if (reader->errors.is_damaged) {
        jpeg_close(&reader->base);
        return NULL;
    }
    reader->base.layout.width = codec->output_width;
    reader->base.layout.height = codec->output_height;
    reader->base.layout.channels = (size_t)codec->output_components;
    reader->base.layout.is_cmyk = codec->out_color_space == JCS_CMYK;
    reader->base.read = jpeg_read;
    reader->base.close = jpeg_close;
    return &reader->base;
}

typedef struct {
    struct jpeg_compress_struct codec;
    struct jpeg_destination_mgr target;
    jpeg_errors errors;
    uint8_t *bytes;
    size_t capacity;
} jpeg_writer;

enum { first_capacity = 256 * 1024 };

static void jpeg_begin_output(j_compress_ptr codec) {
    (void)codec;
}

/// libjpeg calls this only when the whole block is full.
static boolean jpeg_grow_output(j_compress_ptr codec) {
    jpeg_writer *writer = (jpeg_writer *)codec;
    uint8_t *grown = realloc(writer->bytes, writer->capacity * 2);
    if (!grown) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
    writer->bytes = grown;
    writer->target.next_output_byte = grown + writer->capacity;
    writer->target.free_in_buffer = writer->capacity;
    writer->capacity *= 2;
    return TRUE;
}

static martlet_status jpeg_run_writer(jpeg_writer *writer, const uint8_t *pixels, size_t width, size_t height,
                                      size_t channels, int quality, martlet_problem *problem) {
    struct jpeg_compress_struct *codec = &writer->codec;
    codec->err = jpeg_prepare(&writer->errors, problem);
    if (setjmp(writer->errors.escape)) return problem->status;
    jpeg_create_compress(codec);
    writer->target.init_destination = jpeg_begin_output;
    writer->target.empty_output_buffer = jpeg_grow_output;
    writer->target.term_destination = jpeg_begin_output;
    writer->target.next_output_byte = writer->bytes;
    writer->target.free_in_buffer = writer->capacity;
    codec->dest = &writer->target;
    codec->image_width = (JDIMENSION)width;
    codec->image_height = (JDIMENSION)height;
    codec->input_components = (int)channels;
    codec->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    // The default is 4:2:0, as in cameras and browsers: at these qualities, bytes for luma improve the picture more.
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, quality, TRUE);
    jpeg_start_compress(codec, TRUE);
    while (codec->next_scanline < codec->image_height) {
        JSAMPROW rows[1] = {(JSAMPROW)(pixels + (size_t)codec->next_scanline * width * channels)};
        jpeg_write_scanlines(codec, rows, 1);
    }
    jpeg_finish_compress(codec);
    return martlet_status_good;
}

martlet_status martlet_write_jpeg(const uint8_t *pixels, size_t width, size_t height, size_t channels, int quality,
                                  uint8_t **result, size_t *length, martlet_problem *problem) {
    jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return martlet_fail(problem, martlet_status_no_memory, "not enough memory");
    writer->capacity = first_capacity;
    writer->bytes = malloc(writer->capacity);
    martlet_status status = martlet_status_no_memory;
    if (writer->bytes) {
        status = jpeg_run_writer(writer, pixels, width, height, channels, quality, problem);
        jpeg_destroy_compress(&writer->codec);
    } else {
        martlet_fail(problem, status, "not enough memory");
    }
    if (status == martlet_status_good) {
        *result = writer->bytes;
        *length = writer->capacity - writer->target.free_in_buffer;
    } else {
        free(writer->bytes);
    }
    free(writer);
    return status;
}

#endif
