/* aarch64_neon.h - the vocabulary for 16 lanes with NEON. */
#ifndef INFK_AARCH64_NEON_H
#define INFK_AARCH64_NEON_H
#include "generic.h"
#include "bytes_aarch64_neon.h"

#endif
