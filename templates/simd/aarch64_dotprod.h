/* aarch64_dotprod.h - the vocabulary for 16 lanes with NEON and its dot products of bytes. */
#ifndef INFK_AARCH64_DOTPROD_H
#define INFK_AARCH64_DOTPROD_H
#include "generic.h"
#include "bytes_aarch64_dotprod.h"

#endif
