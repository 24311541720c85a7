/* level_here.h - whether this CPU executes the level that the file is compiled for (LEVEL_<token>). */
#ifndef LEVEL_HERE_H
#define LEVEL_HERE_H
#include <stdbool.h>

static inline bool level_runs_here(void) {
#if defined(LEVEL_x86_64_vnni)
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
#elif defined(LEVEL_x86_64_avx512) && !defined(SIMULATED)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(LEVEL_x86_64_avx2) || defined(LEVEL_x86_64_avx512)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

#endif
