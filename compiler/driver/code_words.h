/* code_words.h - instructions by what they do, from their text as LLVM writes it. */
#ifndef INFC_CODE_WORDS_H
#define INFC_CODE_WORDS_H
#include "../../targets/target.h"

typedef struct infc_machine_code { /* a line of machine_code.def */
    const char *arch, *triple, *cpu, *features;
    const char *fma, *dot, *loads, *stores;
    const char *stack; /* null: there are no such operands */
    void (*start)(void);
} infc_machine_code;

typedef struct infc_instruction {
    bool fma, dot, load, store, stack;
    unsigned vector; /* bits of the registers, if it works on vectors; 0 if not */
    bool branch;     /* with a fixed place to go to, `offset` from where it stands */
    int64_t offset;
} infc_instruction;

/* Null when nothing is known about the architecture. */
const infc_machine_code *infc_machine_code_get(const char *arch);
/* `text`: "\tname\toperands". `bytes`: its length. */
infc_instruction infc_instruction_look(const infc_machine_code *code, const infc_target *target,
                                       const char *text, size_t bytes);

#endif
