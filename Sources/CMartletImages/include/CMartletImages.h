#ifndef CMARTLET_IMAGES_H
#define CMARTLET_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// Arithmetic on rows of pixels. Whole numbers only: the same bytes on every machine.

/// Adds up rows of bytes, each with its weight in 1/16384. The sums are in 1/64.
void martlet_add_rows(const uint8_t *const _Nonnull *_Nonnull rows, const int16_t *weights, size_t count,
                      int16_t *sums, size_t length);

/// Makes a row narrower.
///
/// Pixel `i` of the result is what `taps` pixels from `starts[i]` on come to with the weights from `i * taps` on, in 1/16384.
/// @param sums The row in 1/64, with `channels` values a pixel and eight values more behind the last one.
void martlet_narrow_row(const int16_t *sums, const int32_t *starts, const int16_t *weights, size_t taps,
                        size_t channels, uint8_t *result, size_t width);

/// Multiplies the other channels by the last one.
void martlet_premultiply(uint8_t *pixels, size_t count, size_t channels);

/// Undoes `martlet_premultiply` as far as that is possible.
void martlet_unpremultiply(uint8_t *pixels, size_t count, size_t channels);

/// Puts pixels on a background: `channels` with alpha come in, one fewer goes out, which may be in the same place.
void martlet_flatten(const uint8_t *pixels, size_t count, size_t channels, const uint8_t *background, uint8_t *result);

/// The place of the next such byte from `start` on, `count` where there is none.
size_t martlet_find(const uint8_t *bytes, size_t start, size_t count, uint8_t byte);

/// Copies pixels in another order: from number `first` on, with so many to the next one across and down.
void martlet_turn(const uint8_t *pixels, ptrdiff_t first, ptrdiff_t across, ptrdiff_t down, size_t channels,
                  uint8_t *result, size_t width, size_t height);

// The rest is there with the trait ImageCodecs only.

/// How something went.
typedef enum __attribute__((enum_extensibility(closed))) martlet_status {
    martlet_status_good = 0,
    /// The content is broken.
    martlet_status_damaged,
    /// The content is of a variant that the library does not know.
    martlet_status_unsupported,
    /// There is not enough memory.
    martlet_status_no_memory,
    /// A library is missing on this system.
    martlet_status_missing,
} martlet_status;

/// What went wrong, in words.
typedef struct martlet_problem {
    martlet_status status;
    char reason[200];
} martlet_problem;

/// A picture that is being read, row by row.
typedef struct martlet_reader martlet_reader;

/// What a reader yields.
typedef struct martlet_layout {
    size_t width;
    size_t height;
    /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha or CMYK.
    size_t channels;
    /// Whether the four channels are CMYK, 255 for no ink.
    int is_cmyk;
    /// An ICC profile that the codec knows of; it lives as long as the reader.
    const uint8_t *_Nullable profile;
    size_t profile_length;
    /// Gamma and primaries in 1/100000 as PNG has them (white, red, green, blue); 0 where there are none.
    uint32_t gamma;
    uint32_t primaries[8];
    /// Colours by code points (ITU-T H.273); they are said where the transfer is not 0, and come before all of the above.
    uint8_t code_primaries;
    uint8_t code_transfer;
    /// Whether black is at 16 and white at 235.
    uint8_t is_narrow;
} martlet_layout;

/// Width and height in pixels.
typedef struct martlet_size {
    size_t width;
    size_t height;
} martlet_size;

// What opens a picture is told the size that was found in its headers and allowed. A library that finds another one has read
// the file in another way than whoever allowed it: the picture counts as damaged, before memory is taken for its pixels.

/// Opens a JPEG. The bytes have to stay until the reader is closed, as for all of these.
/// @param eighths The scale to decode at, in 1/8: 1, 2, 4 or 8.
martlet_reader *_Nullable martlet_open_jpeg(const uint8_t *bytes, size_t count, martlet_size allowed, unsigned eighths,
                                            martlet_problem *problem);
/// Opens a PNG.
martlet_reader *_Nullable martlet_open_png(const uint8_t *bytes, size_t count, martlet_size allowed,
                                           martlet_problem *problem);
/// Opens a WebP without animation, and decodes it.
/// @param wanted The size to decode to.
martlet_reader *_Nullable martlet_open_webp(const uint8_t *bytes, size_t count, martlet_size allowed,
                                            martlet_size wanted, martlet_problem *problem);
/// Opens a HEIF with libheif, where that is installed, and reads how large it is.
martlet_reader *_Nullable martlet_inspect_heif(const uint8_t *bytes, size_t count, martlet_problem *problem);
/// Opens a HEIF with libheif, where that is installed, and decodes it.
/// @param coded The largest size that any part of it is coded in. Versions of libheif that can be told decode nothing larger.
martlet_reader *_Nullable martlet_open_heif(const uint8_t *bytes, size_t count, martlet_size allowed,
                                            martlet_size coded, martlet_problem *problem);

/// What the rows are made of.
martlet_layout martlet_reader_layout(const martlet_reader *reader);
/// Reads the next row. After anything but `martlet_status_good`, the reader is of no use any more.
martlet_status martlet_read_row(martlet_reader *reader, uint8_t *row, martlet_problem *problem);
/// Gives back all that the reader has.
void martlet_close(martlet_reader *reader);

/// Encodes 1 or 3 channels.
/// @param result A block to be given to `free`.
martlet_status martlet_write_jpeg(const uint8_t *pixels, size_t width, size_t height, size_t channels, int quality,
                                  uint8_t *_Nullable *_Nonnull result, size_t *length, martlet_problem *problem);
/// Encodes 1 to 4 channels.
martlet_status martlet_write_png(const uint8_t *pixels, size_t width, size_t height, size_t channels,
                                 uint8_t *_Nullable *_Nonnull result, size_t *length, martlet_problem *problem);
/// Encodes 3 or 4 channels.
martlet_status martlet_write_webp(const uint8_t *pixels, size_t width, size_t height, size_t channels, int quality,
                                  uint8_t *_Nullable *_Nonnull result, size_t *length, martlet_problem *problem);

/// Whether `martlet_convert_to_srgb` knows what these code points mean (ITU-T H.273, tables 2 and 3).
int martlet_knows_code_points(uint8_t primaries, uint8_t transfer);

/// Converts pixels to sRGB by the code points, the profile, the gamma or the primaries of their layout.
/// @param result 3 channels, or 4 with alpha; it may not overlap the pixels.
/// @return 0 where the profile is of no use for such pixels.
int martlet_convert_to_srgb(const martlet_layout *layout, const uint8_t *pixels, size_t count, size_t channels,
                            uint8_t *result);

#pragma clang assume_nonnull end

#endif
