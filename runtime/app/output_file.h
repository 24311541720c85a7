/* output_file.h - files of results: whole or not at all. */
#ifndef INFRT_OUTPUT_FILE_H
#define INFRT_OUTPUT_FILE_H
#include "tensor_io.h"
#include <stdio.h>

typedef struct infrt_output_file {
    FILE *stream;
    char *path, *partial; /* partial: what is written until it is complete; null: directly (a pipe, a device) */
} infrt_output_file;

/* Opens PATH.part-PID for writing, or PATH itself if that exists and is not a regular file. */
infrt_status infrt_output_open(const char *path, infrt_output_file *out, infrt_error *error);
/* Ends writing; what is complete still has its partial name. A failure, of this or in `status`, removes it. */
infrt_status infrt_output_seal(infrt_output_file *file, infrt_status status, infrt_error *error);
/* `status` is how writing went, of a sealed one too: when fine, gives the file its name; else removes it and returns
 * `status`. */
infrt_status infrt_output_close(infrt_output_file *file, infrt_status status, infrt_error *error);
/* Makes the folder `path` unless it is there. */
infrt_status infrt_output_folder(const char *path, infrt_error *error);

#endif
