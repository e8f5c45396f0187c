#ifndef MARTLET_READER_H
#define MARTLET_READER_H

#include "CMartletImages.h"

/// The common start of all readers.
struct martlet_reader {
    martlet_layout layout;
    martlet_status (*read)(martlet_reader *reader, uint8_t *row, martlet_problem *problem);
    void (*close)(martlet_reader *reader);
};

/// A reader of decoded pixels in memory.
typedef struct martlet_memory_reader {
    martlet_reader base;
    const uint8_t *pixels;
    size_t stride;
    size_t next;
} martlet_memory_reader;

martlet_status martlet_read_memory(martlet_reader *reader, uint8_t *row, martlet_problem *problem);

/// Returns whether the library has read the allowed size; otherwise sets the problem.
int martlet_is_allowed(size_t width, size_t height, martlet_size allowed, martlet_problem *problem);

/// Sets the problem and returns its status.
martlet_status martlet_fail(martlet_problem *problem, martlet_status status, const char *reason);

#endif
