/* level_here.h - whether this CPU executes the level that the file is compiled for (LEVEL_<token>). */
#ifndef LEVEL_HERE_H
#define LEVEL_HERE_H
#include <stdbool.h>

#if (defined(LEVEL_x86_64_amx) || defined(LEVEL_x86_64_amx_bf16)) && !defined(VT_IN_MEMORY)
#include <sys/syscall.h>
#include <unistd.h>
/* Linux gives tiles to a process that asks: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). */
static inline bool level_has_tiles(void) {
#if defined(LEVEL_x86_64_amx_bf16)
    if (!__builtin_cpu_supports("amx-bf16")) return false;
#endif
    return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8") &&
           syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}
#else
static inline bool level_has_tiles(void) { return true; }
#endif

static inline bool level_runs_here(void) {
#if defined(LEVEL_x86_64_fp16) && !defined(SIMULATED)
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512fp16");
#elif (defined(LEVEL_x86_64_bf16) || defined(LEVEL_x86_64_amx_bf16)) && !defined(SIMULATED)
    if (!level_has_tiles()) return false;
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bf16");
#elif (defined(LEVEL_x86_64_vnni) || defined(LEVEL_x86_64_amx)) && !defined(SIMULATED)
    if (!level_has_tiles()) return false;
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
#elif defined(LEVEL_x86_64_avx512) && !defined(SIMULATED)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(LEVEL_WITH_AVXVNNI)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avxvnni");
#elif defined(LEVEL_x86_64_avx2) || defined(SIMULATED)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

#endif
