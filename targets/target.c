#include "target.h"
#include "../compiler/base/map.h"
#include <string.h>

#if defined(__x86_64__)
#define HOST_IS_x86_64 true
#else
#define HOST_IS_x86_64 false
#endif
#if defined(__aarch64__)
#define HOST_IS_aarch64 true
#else
#define HOST_IS_aarch64 false
#endif
#if defined(__riscv)
#define HOST_IS_riscv64 true
#else
#define HOST_IS_riscv64 false
#endif

static const infc_target targets[] = {
#define INFC_TARGET(name, arch, isa, triple, cflags, runner, features) \
    {name, #arch, INFC_ISA_##isa, triple, cflags, runner, features, HOST_IS_##arch},
#include "targets.def"
#undef INFC_TARGET
};
enum { N_TARGETS = sizeof targets / sizeof *targets };

static const struct {
    const char *token;
    infc_isa base;
} isas[INFC_N_ISAS] = {
#define INFC_ISA(token, base, description) {#token, INFC_ISA_##base},
#include "isa.def"
#undef INFC_ISA
};

size_t infc_target_count(void) { return N_TARGETS; }

const infc_target *infc_target_at(size_t i) { return i < N_TARGETS ? &targets[i] : NULL; }

const char *infc_isa_token(infc_isa isa) {
    return (unsigned)isa < INFC_N_ISAS ? isas[isa].token : "?";
}

bool infc_isa_includes(infc_isa isa, infc_isa level) {
    while (isa != level && isas[isa].base != isa) isa = isas[isa].base;
    return isa == level;
}

/* Whether the space-separated `list` holds the first n characters of `word`. */
static bool list_has(const char *list, const char *word, size_t n) {
    for (; *list; list += strspn(list, " ")) {
        size_t length = strcspn(list, " ");
        if (length == n && memcmp(list, word, n) == 0) return true;
        list += length;
    }
    return false;
}

/* This CPU has the feature and the operating system saves its registers. */
static bool host_has(const char *feature, size_t n) {
#if defined(__x86_64__)
    __builtin_cpu_init();
#define HAS(name)                                              \
    if (n == sizeof name - 1 && memcmp(feature, name, n) == 0) \
        return __builtin_cpu_supports(name) != 0;
    /* clang-format off */
    HAS("popcnt") HAS("sse4.2") HAS("avx") HAS("avx2") HAS("fma") HAS("f16c") HAS("bmi") HAS("bmi2")
    HAS("lzcnt") HAS("movbe") HAS("avx512f") HAS("avx512bw") HAS("avx512cd") HAS("avx512dq")
    HAS("avx512vl") HAS("avx512vnni") HAS("avx512bf16") HAS("avxvnni") HAS("amx-tile") HAS("amx-int8")
    /* clang-format on */
#undef HAS
#endif
                (void) feature;
    (void)n;
    return false;
}

bool infc_target_runs_here(const infc_target *t) {
    if (!t->is_host_arch) return false;
    for (const char *f = t->cpu_features; *f; f += strspn(f, " ")) {
        size_t n = strcspn(f, " ");
        if (!host_has(f, n)) return false;
        f += n;
    }
    return true;
}

static const infc_target *find_host(void) {
    for (size_t i = N_TARGETS; i-- > 0;) { /* newest first */
        if (infc_target_runs_here(&targets[i])) return &targets[i];
    }
    return NULL;
}

static const infc_target *find_name(const char *name, size_t n) {
    for (size_t i = 0; i < N_TARGETS; i++) {
        if (strlen(targets[i].name) == n && memcmp(targets[i].name, name, n) == 0)
            return &targets[i];
    }
    return NULL;
}

static const infc_target *find_arch(const char *arch, size_t n) {
    for (size_t i = 0; i < N_TARGETS; i++) {
        if (strlen(targets[i].arch) == n && memcmp(targets[i].arch, arch, n) == 0)
            return &targets[i];
    }
    return NULL;
}

/* `plus` is "+a+b". Every feature of base and plus is in t's list, and every one of t's in those two. */
static bool same_features(const infc_target *t, const infc_target *base, const char *plus) {
    if (strcmp(t->arch, base->arch) != 0) return false;
    for (const char *f = base->cpu_features; *f; f += strspn(f, " ")) {
        size_t n = strcspn(f, " ");
        if (!list_has(t->cpu_features, f, n)) return false;
        f += n;
    }
    for (const char *f = plus; *f;) {
        size_t n = strcspn(++f, "+");
        if (!list_has(t->cpu_features, f, n)) return false;
        f += n;
    }
    for (const char *f = t->cpu_features; *f; f += strspn(f, " ")) {
        size_t n = strcspn(f, " ");
        bool found = list_has(base->cpu_features, f, n);
        for (const char *p = plus; *p && !found;) {
            size_t length = strcspn(++p, "+");
            found = length == n && memcmp(p, f, n) == 0;
            p += length;
        }
        if (!found) return false;
        f += n;
    }
    return true;
}

static const infc_target *find_features(const infc_target *base, const char *plus) {
    for (size_t i = 0; i < N_TARGETS; i++) {
        if (same_features(&targets[i], base, plus)) return &targets[i];
    }
    return NULL;
}

infc_status infc_target_parse(infc_cx *cx, infc_loc loc, const char *text, infc_target *out) {
    size_t n = strcspn(text, "+");
    bool host = n == 4 && memcmp(text, "host", n) == 0;
    const infc_target *base = host ? find_host() : find_name(text, n);
    if (!base && text[n]) base = find_arch(text, n);
    const infc_target *found = base && text[n] ? find_name(text, strlen(text)) : base; /* names may have a + */
    if (base && !found) found = find_features(base, text + n);
    if (found) {
        *out = *found;
        return INFC_OK;
    }
    if (base) {
        return infc_fail(cx, INFC_ERR_SPEC, loc,
                         "target \"%s\" is not implemented yet; nearest: %s", text, base->name);
    }
    if (host) {
        return infc_fail(cx, INFC_ERR_SPEC, loc,
                         "target \"host\": this machine is none that infc knows; "
                         "name a target, see infc targets");
    }
    const char *names[N_TARGETS + 1] = {"host"};
    for (size_t i = 0; i < N_TARGETS; i++) names[i + 1] = targets[i].name;
    const char *nearest = infc_nearest(text, names, N_TARGETS + 1);
    if (nearest) {
        return infc_fail(cx, INFC_ERR_SPEC, loc, "unknown target \"%s\"; nearest: %s", text, nearest);
    }
    return infc_fail(cx, INFC_ERR_SPEC, loc, "unknown target \"%s\"; known: see infc targets", text);
}
