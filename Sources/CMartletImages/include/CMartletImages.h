#ifndef CMARTLET_IMAGES_H
#define CMARTLET_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// Arithmetic on rows of pixels, with integers only, so that every platform computes the same bytes.

/// Computes the weighted sum of rows of bytes. Weights are in 1/16384, sums in 1/64.
void martlet_add_rows(const uint8_t *const _Nonnull *_Nonnull rows, const int16_t *weights, size_t count,
                      int16_t *sums, size_t length);

/// Reduces the width of a row.
///
/// Pixel `i` of the result is the weighted sum of the `taps` pixels from `starts[i]`, with the weights from `i * taps`,
/// in 1/16384. @param sums The row in 1/64, with `channels` values per pixel and eight more values of padding at the
/// end.
void martlet_narrow_row(const int16_t *sums, const int32_t *starts, const int16_t *weights, size_t taps,
                        size_t channels, uint8_t *result, size_t width);

/// Multiplies the color channels by the last channel, alpha.
void martlet_premultiply(uint8_t *pixels, size_t count, size_t channels);

/// Reverses `martlet_premultiply`, as far as the precision allows.
void martlet_unpremultiply(uint8_t *pixels, size_t count, size_t channels);

/// Blends pixels with a background and removes alpha, so that one channel fewer remains. `result` may be equal to
/// `pixels`.
void martlet_flatten(const uint8_t *pixels, size_t count, size_t channels, const uint8_t *background, uint8_t *result);

/// Returns the index of the next occurrence of a byte from `start`, or `count` if there is none.
size_t martlet_find(const uint8_t *bytes, size_t start, size_t count, uint8_t byte);

/// Copies pixels in another order. The source index starts at `first` and changes by `across` per column and `down` per
/// row.
void martlet_turn(const uint8_t *pixels, ptrdiff_t first, ptrdiff_t across, ptrdiff_t down, size_t channels,
                  uint8_t *result, size_t width, size_t height);

// Everything below except `martlet_knows_code_points` exists only with the package trait ImageCodecs.

/// The result of a function.
typedef enum __attribute__((enum_extensibility(closed))) martlet_status {
    martlet_status_good = 0,
    /// The content is damaged.
    martlet_status_damaged,
    /// The library does not support this variant of the format.
    martlet_status_unsupported,
    /// There is not enough memory.
    martlet_status_no_memory,
    /// A library is not installed.
    martlet_status_missing,
} martlet_status;

/// An error and its description.
typedef struct martlet_problem {
    martlet_status status;
    char reason[200];
} martlet_problem;

/// A decoder that reads a picture row by row.
typedef struct martlet_reader martlet_reader;

/// The format of a reader's rows.
typedef struct martlet_layout {
    size_t width;
    size_t height;
    /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha or CMYK.
    size_t channels;
    /// Whether the four channels are CMYK, in which 255 means no ink.
    int is_cmyk;
    /// The ICC profile that the codec has read. It is valid until the reader is closed.
    const uint8_t *_Nullable profile;
    size_t profile_length;
    /// Gamma and primaries (white, red, green, blue) in 1/100000, as in PNG; 0 if there are none.
    uint32_t gamma;
    uint32_t primaries[8];
    /// Code points (ITU-T H.273). They are valid if the transfer is not 0, and take precedence over the fields above.
    uint8_t code_primaries;
    uint8_t code_transfer;
    /// Whether black is 16 and white is 235.
    uint8_t is_narrow;
} martlet_layout;

/// Width and height in pixels.
typedef struct martlet_size {
    size_t width;
    size_t height;
} martlet_size;

// The functions that open a picture take the size that the caller has read from the headers and allowed. If the library
// reads another size, the picture counts as damaged, and no memory is allocated for its pixels.

/// Opens a JPEG. As for all formats, the bytes must stay valid until the reader is closed.
/// @param eighths The scale in 1/8: 1, 2, 4 or 8.
martlet_reader *_Nullable martlet_open_jpeg(const uint8_t *bytes, size_t count, martlet_size allowed, unsigned eighths,
                                            martlet_problem *problem);
/// Opens a PNG.
martlet_reader *_Nullable martlet_open_png(const uint8_t *bytes, size_t count, martlet_size allowed,
                                           martlet_problem *problem);
/// Opens and decodes a WebP that is not animated.
/// @param wanted The size to decode to.
martlet_reader *_Nullable martlet_open_webp(const uint8_t *bytes, size_t count, martlet_size allowed,
                                            martlet_size wanted, martlet_problem *problem);
/// Opens a HEIF with libheif, if it is installed, and reads its size.
martlet_reader *_Nullable martlet_inspect_heif(const uint8_t *bytes, size_t count, martlet_problem *problem);
/// Opens and decodes a HEIF with libheif, if it is installed.
/// @param coded The largest coded size of any part. From version 1.19 on, libheif rejects larger parts.
martlet_reader *_Nullable martlet_open_heif(const uint8_t *bytes, size_t count, martlet_size allowed,
                                            martlet_size coded, martlet_problem *problem);

/// Returns the format of the rows.
martlet_layout martlet_reader_layout(const martlet_reader *reader);
/// Reads the next row. After any status other than `martlet_status_good`, only close the reader.
martlet_status martlet_read_row(martlet_reader *reader, uint8_t *row, martlet_problem *problem);
/// Frees the reader and its resources.
void martlet_close(martlet_reader *reader);

/// Encodes 1 or 3 channels.
/// @param result The file. The caller must release it with `free`.
martlet_status martlet_write_jpeg(const uint8_t *pixels, size_t width, size_t height, size_t channels, int quality,
                                  uint8_t *_Nullable *_Nonnull result, size_t *length, martlet_problem *problem);
/// Encodes 1 to 4 channels.
martlet_status martlet_write_png(const uint8_t *pixels, size_t width, size_t height, size_t channels,
                                 uint8_t *_Nullable *_Nonnull result, size_t *length, martlet_problem *problem);
/// Encodes 3 or 4 channels.
martlet_status martlet_write_webp(const uint8_t *pixels, size_t width, size_t height, size_t channels, int quality,
                                  uint8_t *_Nullable *_Nonnull result, size_t *length, martlet_problem *problem);

/// Returns whether `martlet_convert_to_srgb` supports these code points (ITU-T H.273, tables 2 and 3).
int martlet_knows_code_points(uint8_t primaries, uint8_t transfer);

/// Converts pixels to sRGB, using the code points, the profile, or the gamma and primaries of their layout.
/// @param result 3 channels, or 4 with alpha. It must not overlap the pixels.
/// @return 0 if there is no color information, or if the profile does not fit these pixels.
int martlet_convert_to_srgb(const martlet_layout *layout, const uint8_t *pixels, size_t count, size_t channels,
                            uint8_t *result);

#pragma clang assume_nonnull end

#endif
