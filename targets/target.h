/* target.h - an instruction set to generate for, or several in one program: data from targets.def and functions. */
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

typedef struct infc_platform { /* a line of platforms.def */
    const char *arch;          /* x86_64, aarch64, riscv64, wasm32, armv7e_m, s390x */
    const char *triple;        /* for clang --target and for naming the cross gcc */
    bool big_endian;
    /* Null: Linux, where a model becomes a program of its own. Else libraries only, without an operating system; to be
     * checked, one is linked with templates/emulator/check_<this>.c and run in the emulator. */
    const char *check;
    const char *compiler_packages, *emulator_packages; /* of Debian */
    bool is_host_arch;
} infc_platform;

typedef struct infc_target {
    const char *name; /* as the user writes it: "x86-64-v3"; "host" is recorded as what it was */
    const infc_platform *platform;
    infc_isa isa;       /* vocabulary and newest kernel level */
    const char *cflags; /* -march=... and friends, space separated */
    const char *runner; /* emulator when not native: "qemu-aarch64 -cpu max"; null: none known */
    const char *cpu_features; /* space separated: beyond the baseline of the architecture */
    const char *pipeline; /* the CPU that static cycles are estimated for, as llvm-mca names it; null: none known */
    /* What a program has several of, oldest first: it takes the last that the CPU has. The other fields are those of
     * the oldest, but for `name`, which is as the user wrote all of it. 0: there is one. */
    const struct infc_target *const *levels;
    size_t n_levels;
    const char *level; /* the one of several that is to run, as --level has it; null: the program chooses */
} infc_target;

/* "host", a name from targets.def, or ARCH:LEVEL,LEVEL,.. (target_levels.h), of whatever case; x86_64 is x86-64. Fails
 * with the nearest known name. */
infc_status infc_target_parse(infc_cx *cx, infc_loc loc, const char *text, infc_target *out);
enum { INFC_MOST_LEVELS = 8 };
size_t infc_target_count(void);
const infc_target *infc_target_at(size_t i);      /* as in targets.def */
bool infc_target_runs_here(const infc_target *t); /* this CPU executes it natively */
const char *infc_isa_token(infc_isa isa);
bool infc_isa_includes(infc_isa isa, infc_isa level);

#endif
