/* code_mix.h - what the machine code of a model is made of: its objects disassembled by LLVM. Counts are of
 * instructions in the code, not of those that a run executes. */
#ifndef INFC_CODE_MIX_H
#define INFC_CODE_MIX_H
#include "../../targets/target.h"

typedef struct infc_code_loop { /* the one of a function that multiplies most; it has no loop inside */
    const char *function;
    const char *text; /* in assembler, a line for each instruction */
    size_t instructions, products;
} infc_code_loop;

typedef struct infc_code_mix {
    uint64_t instructions; /* 0: not known */
    uint64_t vector, fma, dot, loads, stores;
    uint64_t spills; /* loads and stores on the stack; not known for WebAssembly, which has no registers */
    uint64_t widest; /* bits of the widest vector register, of scalable ones the least that the target has */
    uint64_t data; /* bytes among the code that are none */
    infc_code_loop *loops;
    size_t n_loops, cap_loops;
} infc_code_mix;

/* Adds the functions of an object that was compiled with -ffunction-sections. */
infc_status infc_code_mix_add(infc_cx *cx, const infc_target *target, const char *object, infc_code_mix *mix);

#endif
