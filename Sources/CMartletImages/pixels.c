#include "CMartletImages.h"

#include <string.h>

static uint8_t byte_from(int32_t value) {
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

/// `value * alpha / 255`, rounded.
static uint8_t product(uint32_t value, uint32_t alpha) {
    uint32_t scaled = value * alpha + 128;
    return (uint8_t)((scaled + (scaled >> 8)) >> 8);
}

void martlet_premultiply(uint8_t *pixels, size_t count, size_t channels) {
    for (size_t i = 0; i < count; i++, pixels += channels) {
        uint8_t alpha = pixels[channels - 1];
        if (alpha == 255) continue;
        for (size_t c = 0; c + 1 < channels; c++) pixels[c] = product(pixels[c], alpha);
    }
}

void martlet_unpremultiply(uint8_t *pixels, size_t count, size_t channels) {
    for (size_t i = 0; i < count; i++, pixels += channels) {
        uint32_t alpha = pixels[channels - 1];
        if (alpha == 255) continue;
        for (size_t c = 0; c + 1 < channels; c++) {
            pixels[c] = alpha == 0 ? 0 : byte_from((int32_t)((pixels[c] * 255u + alpha / 2) / alpha));
        }
    }
}

void martlet_flatten(const uint8_t *pixels, size_t count, size_t channels, const uint8_t *background, uint8_t *result) {
    for (size_t i = 0; i < count; i++, pixels += channels) {
        uint32_t alpha = pixels[channels - 1];
        for (size_t c = 0; c + 1 < channels; c++) {
            uint32_t scaled = pixels[c] * alpha + background[c] * (255 - alpha) + 128;
            *result++ = (uint8_t)((scaled + (scaled >> 8)) >> 8);
        }
    }
}

void martlet_turn(const uint8_t *pixels, ptrdiff_t first, ptrdiff_t across, ptrdiff_t down, size_t channels,
                  uint8_t *result, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        ptrdiff_t place = first + (ptrdiff_t)y * down;
        for (size_t x = 0; x < width; x++, place += across) {
            const uint8_t *pixel = pixels + place * (ptrdiff_t)channels;
            for (size_t c = 0; c < channels; c++) *result++ = pixel[c];
        }
    }
}

size_t martlet_find(const uint8_t *bytes, size_t start, size_t count, uint8_t byte) {
    const uint8_t *found = start < count ? memchr(bytes + start, byte, count - start) : NULL;
    return found ? (size_t)(found - bytes) : count;
}
