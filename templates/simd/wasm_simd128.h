/* wasm_simd128.h - the vocabulary for 16 lanes of WebAssembly: vector extensions, sums of bytes by its dot product of
 * int16 (VI_DOTS of integers_generic.h). */
#ifndef INFK_WASM_SIMD128_H
#define INFK_WASM_SIMD128_H
#include "generic.h"

#endif
