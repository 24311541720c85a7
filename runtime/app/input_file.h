/* input_file.h - files of tensors, mapped: what is not looked at takes no memory. */
#ifndef INFRT_INPUT_FILE_H
#define INFRT_INPUT_FILE_H
#include "tensor_io.h"

typedef struct infrt_input_file {
    infrt_bytes bytes;
    void *map;
    size_t map_bytes;
} infrt_input_file;

/* A regular file; anything else is refused. Ends with close. */
infrt_status infrt_input_open(const char *path, infrt_input_file *out, infrt_error *error);
void infrt_input_close(infrt_input_file *file); /* leaves {0} */

#endif
