#include "CMartletImages.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Integer sums do not depend on the order of additions, so both implementations give the same bytes.

enum { block = 256 };

static uint8_t byte_from(int32_t value) {
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

#if defined(__SSE2__)

/// Repeats two weights four times, to multiply the pixels of two rows or of two neighbors.
static __m128i pair_of_weights(int16_t first, int16_t second) {
    return _mm_set1_epi32((int32_t)((uint32_t)(uint16_t)second << 16 | (uint16_t)first));
}

/// Sums all complete blocks of 16 bytes.
/// @return The index of the first byte after them.
static size_t add_blocks(const uint8_t *const *rows, const int16_t *weights, size_t count, int16_t *sums,
                         size_t length) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i half = _mm_set1_epi32(128);
    size_t x = 0;
    for (; x + 16 <= length; x += 16) {
        __m128i totals[4] = {half, half, half, half};
        for (size_t row = 0; row < count; row += 2) {
            // A last odd row is paired with itself, with weight 0.
            size_t partner = row + 1 < count ? row + 1 : row;
            __m128i pair = pair_of_weights(weights[row], partner > row ? weights[partner] : 0);
            __m128i first = _mm_loadu_si128((const __m128i *)(rows[row] + x));
            __m128i second = _mm_loadu_si128((const __m128i *)(rows[partner] + x));
            __m128i low = _mm_unpacklo_epi8(first, second);
            __m128i high = _mm_unpackhi_epi8(first, second);
            totals[0] = _mm_add_epi32(totals[0], _mm_madd_epi16(_mm_unpacklo_epi8(low, zero), pair));
            totals[1] = _mm_add_epi32(totals[1], _mm_madd_epi16(_mm_unpackhi_epi8(low, zero), pair));
            totals[2] = _mm_add_epi32(totals[2], _mm_madd_epi16(_mm_unpacklo_epi8(high, zero), pair));
            totals[3] = _mm_add_epi32(totals[3], _mm_madd_epi16(_mm_unpackhi_epi8(high, zero), pair));
        }
        for (int i = 0; i < 4; i++) totals[i] = _mm_srai_epi32(totals[i], 8);
        _mm_storeu_si128((__m128i *)(sums + x), _mm_packs_epi32(totals[0], totals[1]));
        _mm_storeu_si128((__m128i *)(sums + x + 8), _mm_packs_epi32(totals[2], totals[3]));
    }
    return x;
}

/// Reduces the width of a row with three or four channels.
static inline __attribute__((always_inline)) void narrow_pairs(const int16_t *sums, const int32_t *starts,
                                                               const int16_t *weights, size_t taps, size_t channels,
                                                               uint8_t *result, size_t width) {
    for (size_t x = 0; x < width; x++, weights += taps, result += channels) {
        const int16_t *source = sums + (size_t)starts[x] * channels;
        __m128i totals = _mm_set1_epi32(1 << 19);
        for (size_t tap = 0; tap + 2 <= taps; tap += 2, source += 2 * channels) {
            __m128i both = _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)source),
                                              _mm_loadl_epi64((const __m128i *)(source + channels)));
            int32_t pair;
            memcpy(&pair, weights + tap, sizeof pair);
            totals = _mm_add_epi32(totals, _mm_madd_epi16(both, _mm_set1_epi32(pair)));
        }
        if (taps % 2 == 1) {
            __m128i last = _mm_loadl_epi64((const __m128i *)source);
            totals = _mm_add_epi32(totals, _mm_madd_epi16(_mm_unpacklo_epi16(last, last),
                                                          pair_of_weights(weights[taps - 1], 0)));
        }
        totals = _mm_srai_epi32(totals, 20);
        totals = _mm_packs_epi32(totals, totals);
        int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(totals, totals));
        memcpy(result, &bytes, channels);
    }
}

#else

static size_t add_blocks(const uint8_t *const *rows, const int16_t *weights, size_t count, int16_t *sums,
                         size_t length) {
    (void)rows, (void)weights, (void)count, (void)sums, (void)length;
    return 0;
}

#endif

void martlet_add_rows(const uint8_t *const *rows, const int16_t *weights, size_t count, int16_t *sums, size_t length) {
    // Blocks stay in the L1 cache while the rows are added.
    for (size_t start = add_blocks(rows, weights, count, sums, length); start < length; start += block) {
        size_t width = length - start < block ? length - start : block;
        int32_t totals[block] = {0};
        for (size_t row = 0; row < count; row++) {
            const uint8_t *bytes = rows[row] + start;
            int16_t weight = weights[row];
            for (size_t x = 0; x < width; x++) totals[x] += (int16_t)bytes[x] * weight;
        }
        for (size_t x = 0; x < width; x++) {
            // Overshoot at edges fits into 16 bits, because negative weights are small compared with the others.
            sums[start + x] = (int16_t)((totals[x] + 128) >> 8);
        }
    }
}

static inline __attribute__((always_inline)) void narrow(const int16_t *sums, const int32_t *starts,
                                                         const int16_t *weights, size_t taps, size_t channels,
                                                         uint8_t *result, size_t width) {
    for (size_t x = 0; x < width; x++, weights += taps, result += channels) {
        const int16_t *source = sums + (size_t)starts[x] * channels;
        int32_t totals[4] = {0};
        for (size_t tap = 0; tap < taps; tap++) {
            for (size_t c = 0; c < channels; c++) totals[c] += source[tap * channels + c] * weights[tap];
        }
        for (size_t c = 0; c < channels; c++) result[c] = byte_from((totals[c] + (1 << 19)) >> 20);
    }
}

void martlet_narrow_row(const int16_t *sums, const int32_t *starts, const int16_t *weights, size_t taps,
                        size_t channels, uint8_t *result, size_t width) {
    // A constant number of channels lets the compiler specialize the loop.
    switch (channels) {
    case 1: narrow(sums, starts, weights, taps, 1, result, width); break;
    case 2: narrow(sums, starts, weights, taps, 2, result, width); break;
#if defined(__SSE2__)
    case 3: narrow_pairs(sums, starts, weights, taps, 3, result, width); break;
    case 4: narrow_pairs(sums, starts, weights, taps, 4, result, width); break;
#else
    case 3: narrow(sums, starts, weights, taps, 3, result, width); break;
    case 4: narrow(sums, starts, weights, taps, 4, result, width); break;
#endif
    default: break;
    }
}
