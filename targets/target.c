#include "target.h"
#include "target_levels.h"
#include "../compiler/base/map.h"
#include "../compiler/base/buf.h"
#include <string.h>
#if defined(__aarch64__) || defined(__riscv)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define HOST_IS_x86_64 false
#define HOST_IS_aarch64 false
#define HOST_IS_riscv64 false
#define HOST_IS_wasm32 false
#define HOST_IS_armv7e_m false
#define HOST_IS_s390x false
#if defined(__x86_64__)
#undef HOST_IS_x86_64
#define HOST_IS_x86_64 true
#elif defined(__aarch64__)
#undef HOST_IS_aarch64
#define HOST_IS_aarch64 true
#elif defined(__riscv)
#undef HOST_IS_riscv64
#define HOST_IS_riscv64 true
#endif

enum { ORDER_little, ORDER_big };

#define INFC_PLATFORM(token, arch, triple, order, check, compiler, emulator) \
    static const infc_platform platform_##token = {                          \
        #arch, triple, ORDER_##order == ORDER_big, check, compiler, emulator, HOST_IS_##arch};
#include "platforms.def"
#undef INFC_PLATFORM

#define INFC_SEMIHOSTING \
    "-semihosting-config enable=on,target=native -nographic -monitor none -serial none -kernel"
static const infc_target targets[] = {
#define INFC_TARGET(name, platform, isa, cflags, runner, features, pipeline) \
    {name, &platform_##platform, INFC_ISA_##isa, cflags, runner, features, pipeline, NULL, 0, NULL},
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
    /* Linux gives tiles to a process that asks: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). */
    if (n == 8 && memcmp(feature, "amx-tile", n) == 0)
        return __builtin_cpu_supports("amx-tile") && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
#define HAS(name)                                              \
    if (n == sizeof name - 1 && memcmp(feature, name, n) == 0) \
        return __builtin_cpu_supports(name) != 0;
    /* clang-format off */
    HAS("popcnt") HAS("sse3") HAS("ssse3") HAS("sse4.1") HAS("sse4.2")
    HAS("avx") HAS("avx2") HAS("fma") HAS("f16c") HAS("bmi") HAS("bmi2")
    HAS("lzcnt") HAS("movbe") HAS("avx512f") HAS("avx512bw") HAS("avx512cd") HAS("avx512dq")
    HAS("avx512vl") HAS("avx512vnni") HAS("avx512bf16") HAS("avx512fp16") HAS("avxvnni") HAS("amx-int8") HAS("amx-bf16")
    /* clang-format on */
#undef HAS
#elif defined(__aarch64__) || defined(__riscv)
    static const struct {
        const char *name;
        unsigned long word, bit;
    } known[] = {
#if defined(__riscv)
        {"v", AT_HWCAP, 'v' - 'a'},
#else
        {"dotprod", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22},   {"sve2", AT_HWCAP2, 1},
        {"i8mm", AT_HWCAP2, 13},   {"bf16", AT_HWCAP2, 14},
#endif
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, feature, n) == 0)
            return getauxval(known[i].word) >> known[i].bit & 1;
#endif
                    (void) feature;
    (void)n;
    return false;
}

bool infc_target_runs_here(const infc_target *t) {
    if (!t->platform->is_host_arch) return false;
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

static bool all_in(const char *features, const char *list) {
    for (const char *f = features + strspn(features, " "); *f; f += strspn(f, " ")) {
        const size_t n = strcspn(f, " ");
        if (!list_has(list, f, n)) return false;
        f += n;
    }
    return true;
}

static const infc_target *find_features(const char *arch, const char *features) {
    for (size_t i = 0; i < N_TARGETS; i++)
        if (strcmp(targets[i].platform->arch, arch) == 0 &&
            all_in(features, targets[i].cpu_features) && all_in(targets[i].cpu_features, features))
            return &targets[i];
    return NULL;
}

/* What n characters after `base` and a + stand for, among targets of its architecture: a feature of one, or the
 * features of the one of whose name this is the end, and the beginning one that `base` includes. Null: nothing. */
static const char *meaning(infc_arena *arena, const infc_target *base, const char *word, size_t n) {
    for (size_t i = 0; n > 0 && i < N_TARGETS; i++) {
        const char *name = targets[i].name, *last = strrchr(name, '+');
        if (strcmp(targets[i].platform->arch, base->platform->arch) != 0) continue;
        if (list_has(targets[i].cpu_features, word, n))
            return infc_arena_copy_string(arena, word, n);
        if (!last || strlen(last + 1) != n || memcmp(last + 1, word, n) != 0) continue;
        const infc_target *begin = find_name(name, (size_t)(last - name));
        if (begin && all_in(begin->cpu_features, base->cpu_features))
            return targets[i].cpu_features;
    }
    return NULL;
}

enum { MOST_FEATURES = 64 };

/* The features that targets of the architecture have, each once; how many. */
static size_t known_features(infc_arena *arena, const char *arch, const char **out) {
    size_t n = 0;
    for (size_t i = 0; i < N_TARGETS; i++) {
        if (strcmp(targets[i].platform->arch, arch) != 0) continue;
        for (const char *f = targets[i].cpu_features; *f; f += strspn(f, " ")) {
            const char *name = infc_arena_copy_string(arena, f, strcspn(f, " "));
            bool seen = n == MOST_FEATURES;
            for (size_t k = 0; k < n && !seen; k++) seen = strcmp(out[k], name) == 0;
            if (!seen) out[n++] = name;
            f += strlen(name);
        }
    }
    return n;
}

static infc_status refuse_feature(infc_cx *cx, infc_loc loc, const char *text,
                                  const infc_target *base, const char *name) {
    const char *known[MOST_FEATURES];
    const char *arch = base->platform->arch;
    const char *nearest = infc_nearest(name, known, known_features(cx->arena, arch, known));
    return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": %s has no feature \"%s\"; nearest%s: %s",
                     text, arch, name, nearest ? "" : " target", nearest ? nearest : base->name);
}

/* The one that has most of `features` and fewest others; `base` unless another is better. */
static const infc_target *nearest_target(const infc_target *base, const char *features) {
    const infc_target *best = base;
    int most = 0;
    for (size_t i = 0; i <= N_TARGETS; i++) {
        const infc_target *t = i ? &targets[i - 1] : base;
        int score = 0;
        if (strcmp(t->platform->arch, base->platform->arch) != 0) continue;
        for (const char *f = t->cpu_features; *f; f += strspn(f, " ")) {
            const size_t n = strcspn(f, " ");
            score += list_has(features, f, n) ? 1 : -1;
            f += n;
        }
        if (i && score <= most) continue;
        best = t;
        most = score;
    }
    return best;
}

/* The target with the features of `base` and those of `plus`, "+a+b". */
static infc_status parse_features(infc_cx *cx, infc_loc loc, const char *text,
                                  const infc_target *base, const char *plus, infc_target *out) {
    const char *arch = base->platform->arch;
    infc_buf features = {.arena = cx->arena};
    infc_buf_puts(&features, base->cpu_features);
    for (const char *f = plus; *f;) {
        const size_t n = strcspn(++f, "+");
        const char *more = meaning(cx->arena, base, f, n);
        if (!more)
            return refuse_feature(cx, loc, text, base, infc_arena_copy_string(cx->arena, f, n));
        infc_buf_printf(&features, " %s", more);
        f += n;
    }
    const infc_target *found = find_features(arch, infc_buf_str(&features));
    if (!found)
        return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": no target has just these features; nearest: %s",
                         text, nearest_target(base, infc_buf_str(&features))->name);
    *out = *found;
    return INFC_OK;
}

/* What other tools call them. */
static const struct {
    const char *other, *name;
} aliases[] = {{"amd64", "x86-64"}, {"x64", "x86-64"}, {"arm64", "aarch64"}};

/* By edit distance, or by another name, or the first that begins like it; null: none of these. */
static const char *nearest_name(const char *text) {
    const char *names[N_TARGETS + 1] = {"host"}, *best = NULL;
    size_t longest = 1;
    for (size_t i = 0; i < N_TARGETS; i++) names[i + 1] = targets[i].name;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(text, aliases[i].other) == 0) return aliases[i].name;
    const char *nearest = infc_nearest(text, names, N_TARGETS + 1);
    if (nearest) return nearest;
    for (size_t i = 0; i < N_TARGETS; i++) {
        size_t n = 0;
        while (text[n] && text[n] == targets[i].name[n]) n++;
        if (n <= longest) continue;
        longest = n;
        best = targets[i].name;
    }
    return best;
}

static infc_status refuse_name(infc_cx *cx, infc_loc loc, const char *text) {
    if (strcmp(text, "host") == 0)
        return infc_fail(cx, INFC_ERR_SPEC, loc,
                         "target \"host\": this machine is none that infc knows; "
                         "name a target, see infc targets");
    if (strcmp(text, "all") == 0)
        return infc_fail(cx, INFC_ERR_SPEC, loc,
                         "target \"all\": only infc compare --target all takes it; elsewhere name "
                         "targets, see infc "
                         "targets");
    const char *nearest = nearest_name(text);
    return infc_fail(cx, INFC_ERR_SPEC, loc, "unknown target \"%s\"; %s%s", text,
                     nearest ? "nearest: " : "known: see infc targets", nearest ? nearest : "");
}

/* In lower case, and x86_64, as compilers have it, as x86-64. */
static const char *as_spelled_here(infc_arena *arena, const char *text) {
    char *here = infc_arena_copy_string(arena, text, strlen(text));
    for (char *p = here; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    for (char *p = here; (p = strstr(p, "x86_64"));) p[strlen("x86")] = '-';
    return here;
}

infc_status infc_target_parse(infc_cx *cx, infc_loc loc, const char *text, infc_target *out) {
    text = as_spelled_here(cx->arena, text);
    if (strcmp(text, "x86-64-v1") == 0)
        text = "x86-64"; /* as the psABI calls what comes before v2 */
    if (strchr(text, ':')) return infc_target_parse_levels(cx, loc, text, out);
    if (strpbrk(text, ", "))
        return infc_fail(cx, INFC_ERR_SPEC, loc,
                         "target \"%s\": for several write a list in a spec, [A, B], and A,B after "
                         "--target",
                         text);
    size_t n = strcspn(text, "+");
    bool host = n == 4 && memcmp(text, "host", n) == 0;
    const infc_target *base = host ? find_host() : find_name(text, n);
    const infc_target *found = base && text[n] ? find_name(text, strlen(text)) : base; /* names may have a + */
    if (found) {
        *out = *found;
        return INFC_OK;
    }
    if (base) return parse_features(cx, loc, text, base, text + n, out);
    return refuse_name(cx, loc, text);
}
