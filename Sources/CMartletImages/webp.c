#include "reader.h"

#if MARTLET_IMAGE_CODECS

#if !__has_include(<webp/decode.h>)
#error "The trait ImageCodecs needs libwebp. Debian, Ubuntu: apt-get install libjpeg-dev libpng-dev libwebp-dev liblcms2-dev"
#endif

#include <stdlib.h>

#include <webp/decode.h>
#include <webp/encode.h>

typedef struct {
    martlet_memory_reader base;
    WebPDecoderConfig config;
} webp_reader;

static void webp_close(martlet_reader *base) {
    webp_reader *reader = (webp_reader *)base;
    WebPFreeDecBuffer(&reader->config.output);
    free(reader);
}

static martlet_status webp_fail(martlet_problem *problem, VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY: return martlet_fail(problem, martlet_status_no_memory, "not enough memory");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return martlet_fail(problem, martlet_status_unsupported, "libwebp does not know this variant");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return martlet_fail(problem, martlet_status_damaged, "it ends early");
    default: return martlet_fail(problem, martlet_status_damaged, "its pixels cannot be decoded");
    }
}

martlet_reader *martlet_open_webp(const uint8_t *bytes, size_t count, martlet_size allowed, martlet_size wanted,
                                  martlet_problem *problem) {
    webp_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        martlet_fail(problem, martlet_status_no_memory, "not enough memory");
        return NULL;
    }
    WebPDecoderConfig *config = &reader->config;
    VP8StatusCode code = VP8_STATUS_UNSUPPORTED_FEATURE;
    if (WebPInitDecoderConfig(config)) code = WebPGetFeatures(bytes, count, &config->input);
    if (code == VP8_STATUS_OK) {
        if (!martlet_is_allowed((size_t)config->input.width, (size_t)config->input.height, allowed, problem)) {
            webp_close(&reader->base.base);
            return NULL;
        }
        int has_alpha = config->input.has_alpha;
        if (wanted.width < allowed.width || wanted.height < allowed.height) {
            config->options.use_scaling = 1;
            config->options.scaled_width = (int)wanted.width;
            config->options.scaled_height = (int)wanted.height;
        }
        config->output.colorspace = has_alpha ? MODE_RGBA : MODE_RGB;
        code = WebPDecode(bytes, count, config);
        reader->base.base.layout.channels = has_alpha ? 4 : 3;
    }
    if (code != VP8_STATUS_OK) {
        webp_fail(problem, code);
        webp_close(&reader->base.base);
        return NULL;
    }
    reader->base.base.layout.width = (size_t)config->output.width;
    reader->base.base.layout.height = (size_t)config->output.height;
    reader->base.base.read = martlet_read_memory;
    reader->base.base.close = webp_close;
    reader->base.pixels = config->output.u.RGBA.rgba;
    reader->base.stride = (size_t)config->output.u.RGBA.stride;
    return &reader->base.base;
}

martlet_status martlet_write_webp(const uint8_t *pixels, size_t width, size_t height, size_t channels, int quality,
                                  uint8_t **result, size_t *length, martlet_problem *problem) {
    WebPConfig config;
    WebPPicture picture;
    if (!WebPConfigInit(&config) || !WebPPictureInit(&picture)) {
        return martlet_fail(problem, martlet_status_unsupported, "libwebp is of another version");
    }
    config.quality = (float)quality;
    picture.width = (int)width;
    picture.height = (int)height;
    int stride = (int)(width * channels);
    WebPMemoryWriter writer;
    WebPMemoryWriterInit(&writer);
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    int imported = channels == 4 ? WebPPictureImportRGBA(&picture, pixels, stride)
                                 : WebPPictureImportRGB(&picture, pixels, stride);
    int encoded = imported && WebPEncode(&config, &picture);
    int is_too_large = picture.error_code == VP8_ENC_ERROR_BAD_DIMENSION;
    WebPPictureFree(&picture);
    if (!encoded) {
        WebPMemoryWriterClear(&writer);
        return is_too_large ? martlet_fail(problem, martlet_status_unsupported, "a WebP has at most 16383 x 16383 pixels")
                            : martlet_fail(problem, martlet_status_no_memory, "libwebp could not encode");
    }
    *result = writer.mem;
    *length = writer.size;
    return martlet_status_good;
}

#endif
