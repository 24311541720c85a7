/* x86_64_fp16.h - the vocabulary for 16 lanes with AVX-512 VNNI, and 32 of f16. */
#ifndef INFK_X86_64_FP16_H
#define INFK_X86_64_FP16_H
#include "x86_64_vnni.h"
#include "halves_x86_64_fp16.h"

#endif
