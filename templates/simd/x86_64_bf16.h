/* x86_64_bf16.h - the vocabulary for 16 lanes with AVX-512 VNNI and its products of bf16. */
#ifndef INFK_X86_64_BF16_H
#define INFK_X86_64_BF16_H
#include "x86_64_vnni.h"
#include "pairs_x86_64_bf16.h"

#endif
