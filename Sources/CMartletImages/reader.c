#include "reader.h"

#include <stdio.h>
#include <string.h>

martlet_layout martlet_reader_layout(const martlet_reader *reader) {
    return reader->layout;
}

martlet_status martlet_read_row(martlet_reader *reader, uint8_t *row, martlet_problem *problem) {
    return reader->read(reader, row, problem);
}

void martlet_close(martlet_reader *reader) {
    reader->close(reader);
}

martlet_status martlet_read_memory(martlet_reader *base, uint8_t *row, martlet_problem *problem) {
    martlet_memory_reader *reader = (martlet_memory_reader *)base;
    if (reader->next >= base->layout.height) {
        return martlet_fail(problem, martlet_status_damaged, "there are no more rows");
    }
    memcpy(row, reader->pixels + reader->next * reader->stride, base->layout.width * base->layout.channels);
    reader->next++;
    return martlet_status_good;
}

int martlet_is_allowed(size_t width, size_t height, martlet_size allowed, martlet_problem *problem) {
    if (width == allowed.width && height == allowed.height) return 1;
    martlet_fail(problem, martlet_status_damaged, "it is not as large as its headers say");
    return 0;
}

martlet_status martlet_fail(martlet_problem *problem, martlet_status status, const char *reason) {
    problem->status = status;
    snprintf(problem->reason, sizeof problem->reason, "%s", reason);
    return status;
}
