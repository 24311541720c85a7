/* toolchain.h - finding the C compiler for a target. */
#ifndef INFC_TOOLCHAIN_H
#define INFC_TOOLCHAIN_H
#include "../../targets/target.h"
#include "words.h"

typedef struct infc_compiler {
    infc_words words;   /* program, then the fixed arguments of $CC */
    const char *label;  /* "clang 22.1.8" */
    const char *banner; /* all that --version says: part of cache keys */
    bool clang;
    int major;
} infc_compiler;

typedef struct infc_toolchain {
    infc_compiler cc;
    const char *target_flag; /* --target=TRIPLE, or null */
    const char *check_flags; /* without an operating system: how a program that checks the library is linked */
    bool cross; /* another architecture: binaries are linked statically, so that an emulator needs no sysroot */
} infc_toolchain;

enum {
    INFC_MIN_GCC = 12,
    INFC_MIN_CLANG = 19, /* older ones lack names of __builtin_cpu_supports */
};

/* $CC, clang-22, clang >= 19, gcc >= 12; for another architecture clang with the cross libc, or TRIPLE-gcc. When
 * there is none: INFC_ERR_TOOLCHAIN with the command that installs one. */
infc_status infc_toolchain_find(infc_cx *cx, const infc_target *target, infc_toolchain *out);

/* The compiler's words, and the flag for another architecture. */
infc_words infc_toolchain_words(infc_cx *cx, const infc_toolchain *tools);

/* Runs `command --version` (the command may be several words). False when it cannot run or is no compiler we know;
 * *why then says so. */
bool infc_compiler_probe(infc_cx *cx, const char *command, infc_compiler *out, const char **why);
/* INFC_ERR_TOOLCHAIN with the command that installs what is missing to link a program: for targets without an operating
 * system, which have only their compiler else. */
infc_status infc_toolchain_can_link(infc_cx *cx, const infc_target *target);
/* The Debian packages that bring a compiler and libc for the target. */
const char *infc_toolchain_packages(const infc_target *target);

#endif
