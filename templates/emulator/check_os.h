/* check_os.h - what check_main.h asks of the machine; check_<machine>.c implements it.
 * SPDX-License-Identifier: MIT */
#ifndef CHECK_OS_H
#define CHECK_OS_H
#include <stddef.h>

/* Fills `to` from the file of inputs, going on where the last call ended; the bytes that there were. */
size_t check_os_read(void *to, size_t bytes);
/* Appends to the file of results. */
void check_os_write(const void *from, size_t bytes);
/* What the machine calls once it is set up: 0, or an exit code. */
int check_run(void);

#endif
