/* target.h - an instruction set to generate for: data from targets.def plus two functions. */
#ifndef INFC_TARGET_H
#define INFC_TARGET_H
#include "../compiler/base/cx.h"

/* Kernel levels, oldest to newest; each includes the ones it names as base. The token is used verbatim in
 * file names, kernel names and test labels. */
typedef enum infc_isa {
#define INFC_ISA(token, base, description) INFC_ISA_##token,
#include "isa.def"
#undef INFC_ISA
    INFC_N_ISAS
} infc_isa;

typedef struct infc_target {
    const char *name;   /* as the user writes it: "x86-64-v3"; "host" is recorded as what it was */
    const char *arch;   /* x86_64, aarch64, riscv64 */
    infc_isa isa;       /* vocabulary and newest kernel level */
    const char *triple; /* for clang --target and for naming the cross gcc */
    const char *cflags; /* -march=... and friends, space separated */
    const char *runner; /* emulator when not native: "qemu-aarch64 -cpu max"; null: none known */
    const char *cpu_features; /* space separated names for the start-up check; "" for the baseline */
    bool is_host_arch;
} infc_target;

/* "host", a name from targets.def. Fails with the nearest known name. */
infc_status infc_target_parse(infc_cx *cx, infc_loc loc, const char *text, infc_target *out);
size_t infc_target_count(void);
const infc_target *infc_target_at(size_t i);      /* as in targets.def */
bool infc_target_runs_here(const infc_target *t); /* this CPU executes it natively */
const char *infc_isa_token(infc_isa isa);
bool infc_isa_includes(infc_isa isa, infc_isa level);

#endif
