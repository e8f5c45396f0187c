#ifndef CMARTLET_IMAGES_H
#define CMARTLET_IMAGES_H

#include <stddef.h>
#include <stdint.h>

/// Adds up `count` rows of `length` bytes, each with its weight in 1/16384, and rounds: one row of a smaller picture.
/// The weights add up to 16384.
void martlet_add_rows(const uint8_t *const _Nonnull *_Nonnull rows, const int16_t *_Nonnull weights, size_t count,
                      uint8_t *_Nonnull result, size_t length);

#endif
