/* x86_64_amx.h - the vocabulary for 16 lanes with AVX-512 VNNI and tiles. */
#ifndef INFK_X86_64_AMX_H
#define INFK_X86_64_AMX_H
#include "x86_64_vnni.h"
#include "tiles_x86_64_amx.h"

#endif
