/* serve_file.h - files of keys and certificates, which a server reads at its start and again while it runs.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_FILE_H
#define INFRT_SERVE_FILE_H
#include "infrt.h"

/* The text of a regular file of at most `most` bytes, with a NUL behind it; to be freed. Never waits for who would
 * write into a FIFO: with `pipes`, which only the start may say, it does, and takes whatever is no folder. `what`:
 * begins the message of an error. */
infrt_status infrt_serve_file_read(const char *what, const char *path, size_t most, bool pipes,
                                   char **out, size_t *out_bytes, infrt_error *error);

#endif
