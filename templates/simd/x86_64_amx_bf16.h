/* x86_64_amx_bf16.h - the vocabulary for 16 lanes with AVX-512 VNNI and BF16, and tiles of bytes and of bf16. */
#ifndef INFK_X86_64_AMX_BF16_H
#define INFK_X86_64_AMX_BF16_H
#include "x86_64_vnni.h"
#include "pairs_x86_64_bf16.h"
#include "tiles_x86_64_amx.h"

#endif
