/* x86_64_vnni.h - the vocabulary for 16 lanes with AVX-512 and its dot products of bytes. */
#ifndef INFK_X86_64_VNNI_H
#define INFK_X86_64_VNNI_H
#include "x86_64_avx512.h"
#include "bytes_x86_64_vnni.h"

#endif
