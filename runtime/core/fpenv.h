/* fpenv.h - the floating-point environment that results depend on: round to nearest even, denormals kept,
 * NaNs kept, exceptions masked. Freestanding, no dependencies; also pasted into generated code.
 * Enter before the first and leave after the last floating-point work of an entry point:
 *
 *     infrt_fpenv saved = infrt_fpenv_enter();
 *     ...
 *     infrt_fpenv_leave(saved);
 *
 * x86 (SSE), AArch64, RISC-V, Arm with VFP and s390x; elsewhere it does nothing and the caller's environment must be
 * the default.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_FPENV_H
#define INFRT_FPENV_H

/* MXCSR, FPCR, fcsr, FPSCR or fpc as the caller had it. */
typedef unsigned long long infrt_fpenv;

/* The "memory" clobbers keep loads and stores inside enter and leave. Arithmetic that is neither fed by a load
 * nor consumed by a store in there may move across, as compilers do not model the environment. */
#if defined(__SSE__)
static inline infrt_fpenv infrt_fpenv_get(void) {
    unsigned mxcsr;
    __asm__ __volatile__("stmxcsr %0" : "=m"(mxcsr) : : "memory");
    return mxcsr;
}
static inline void infrt_fpenv_set(infrt_fpenv value) {
    unsigned mxcsr = (unsigned)value;
    __asm__ __volatile__("ldmxcsr %0" : : "m"(mxcsr) : "memory");
}
#define INFRT_FPENV_DEFAULT 0x1f80u /* all six exceptions masked, rest zero */
#elif defined(__aarch64__)
static inline infrt_fpenv infrt_fpenv_get(void) {
    infrt_fpenv fpcr;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(fpcr) : : "memory");
    return fpcr;
}
static inline void infrt_fpenv_set(infrt_fpenv value) {
    __asm__ __volatile__("msr fpcr, %0" : : "r"(value) : "memory");
}
#define INFRT_FPENV_DEFAULT 0u
#elif defined(__riscv_flen)
static inline infrt_fpenv infrt_fpenv_get(void) {
    unsigned long fcsr;
    __asm__ __volatile__("frcsr %0" : "=r"(fcsr) : : "memory");
    return fcsr;
}
static inline void infrt_fpenv_set(infrt_fpenv value) {
    __asm__ __volatile__("fscsr %0" : : "r"((unsigned long)value) : "memory");
}
#define INFRT_FPENV_DEFAULT 0u
#elif defined(__ARM_FP)
static inline infrt_fpenv infrt_fpenv_get(void) {
    unsigned fpscr;
    __asm__ __volatile__("vmrs %0, fpscr" : "=r"(fpscr) : : "memory");
    return fpscr;
}
static inline void infrt_fpenv_set(infrt_fpenv value) {
    __asm__ __volatile__("vmsr fpscr, %0" : : "r"((unsigned)value) : "memory");
}
#define INFRT_FPENV_DEFAULT 0u
#elif defined(__s390x__)
static inline infrt_fpenv infrt_fpenv_get(void) {
    unsigned fpc;
    __asm__ __volatile__("efpc %0" : "=d"(fpc) : : "memory");
    return fpc;
}
static inline void infrt_fpenv_set(infrt_fpenv value) {
    __asm__ __volatile__("sfpc %0" : : "d"((unsigned)value) : "memory");
}
#define INFRT_FPENV_DEFAULT 0u
#else
static inline infrt_fpenv infrt_fpenv_get(void) { return 0; }
static inline void infrt_fpenv_set(infrt_fpenv value) { (void)value; }
#define INFRT_FPENV_DEFAULT 0u
#endif

/* Sets the default environment; returns the caller's. */
static inline infrt_fpenv infrt_fpenv_enter(void) {
    infrt_fpenv saved = infrt_fpenv_get();
    if (saved != INFRT_FPENV_DEFAULT) infrt_fpenv_set(INFRT_FPENV_DEFAULT);
    return saved;
}
/* Restores what enter returned, its sticky exception flags included. */
static inline void infrt_fpenv_leave(infrt_fpenv saved) { infrt_fpenv_set(saved); }

#endif
