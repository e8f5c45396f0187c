#include "CMartletImages.h"

#include <string.h>

enum { block = 256 };

static uint8_t byte_from(int32_t value) {
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

void martlet_add_rows(const uint8_t *const *rows, const int16_t *weights, size_t count, int16_t *sums, size_t length) {
    // In blocks that stay in the fastest cache while row after row is added.
    for (size_t start = 0; start < length; start += block) {
        size_t width = length - start < block ? length - start : block;
        int32_t totals[block] = {0};
        for (size_t row = 0; row < count; row++) {
            const uint8_t *bytes = rows[row] + start;
            int16_t weight = weights[row];
            for (size_t x = 0; x < width; x++) totals[x] += (int16_t)bytes[x] * weight;
        }
        for (size_t x = 0; x < width; x++) {
            // Overshooting at edges stays within 16 bits: weights below 0 are a fraction of the others.
            sums[start + x] = (int16_t)((totals[x] + 128) >> 8);
        }
    }
}

#define NARROW(channels)                                                                                               \
    for (size_t x = 0; x < width; x++) {                                                                               \
        const int16_t *source = sums + (size_t)starts[x] * channels;                                                   \
        int32_t totals[channels] = {0};                                                                                \
        for (size_t tap = 0; tap < taps; tap++, source += channels) {                                                  \
            int32_t weight = weights[tap];                                                                             \
            for (size_t c = 0; c < channels; c++) totals[c] += source[c] * weight;                                     \
        }                                                                                                              \
        weights += taps;                                                                                               \
        for (size_t c = 0; c < channels; c++) *result++ = byte_from((totals[c] + (1 << 19)) >> 20);                    \
    }

void martlet_narrow_row(const int16_t *sums, const int32_t *starts, const int16_t *weights, size_t taps,
                        size_t channels, uint8_t *result, size_t width) {
    switch (channels) {
    case 1: NARROW(1) break;
    case 2: NARROW(2) break;
    case 3: NARROW(3) break;
    case 4: NARROW(4) break;
    default: break;
    }
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
