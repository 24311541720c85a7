/* jpeg_check.h - whether a JPEG is put together as the standard says. */
#ifndef INFRT_JPEG_CHECK_H
#define INFRT_JPEG_CHECK_H
#include "tensor_io.h"

/* Null when `file` is not a JPEG, or one with whole segments, proper tables, each defined before the scan that
 * uses it, and an end; else what is wrong. */
const char *infrt_jpeg_wrong(infrt_bytes file);

#endif
