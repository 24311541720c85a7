/* aarch64_bf16.h - the vocabulary for 16 lanes with NEON and its products of bf16. */
#ifndef INFK_AARCH64_BF16_H
#define INFK_AARCH64_BF16_H
#include "aarch64_neon.h"
#include "pairs_aarch64_bf16.h"

#endif
