/* kernels_test.c - every kernel of one level against the reference of its kind, bit by bit. Compiled once per level
 * together with what infk_expand prints for it (LEVEL: the level's token).
 *
 * For each line of kernels.def and each case that fits it: the reference compiled for the host computes the result;
 * the line's text must give the same bits and touch the same bytes, when run whole, unit by unit, and in two parts;
 * with operands that end where an unreadable page begins or begin where one ends; with an epilogue that only stores
 * and with one that adds a column and a full-size operand, applies relu and stores twice.
 *
 *   kernels_LEVEL [--hash-out FILE | --hash-expect FILE]
 *
 * The hash covers all results of the references: equal on every target. */
#include "infc_abi.h"
#include "kernel_case.h"
#include "templates/reference.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN3(a, b, c) a##b##c
#define ROWS(level, epilogue) JOIN3(infk_, level, epilogue)
#define QUOTE2(x) #x
#define QUOTE(x) QUOTE2(x)
extern const infk_reference_row ROWS(LEVEL, _plain_rows)[], ROWS(LEVEL, _rich_rows)[];
extern const size_t ROWS(LEVEL, _plain_n), ROWS(LEVEL, _rich_n);

enum { SLOT_X, SLOT_W, SLOT_COLUMN, SLOT_FULL, SLOT_Y, SLOT_COPY };

static struct {
    long runs, failures, cases;
    uint64_t hash;
} totals = {0, 0, 0, INFC_CHECK_START};

/* One case with its operands, filled. */
typedef struct operands {
    const void *in[4]; /* x, w, column, full */
    size_t y_bytes;
    void *expected, *expected_copy;
} operands;

static infk_entry *find(const infk_reference_row *rows, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].entry;
    return NULL;
}

static void fill(const infk_kernel *k, const kernel_case *c, kernel_data data, bool at_start, operands *out) {
    uint64_t state = 12345;
    const struct {
        const char *type;
        ptrdiff_t count;
    } all[4] = {{k->types[0], c->x_count},
                {k->types[1], k->types[1][0] ? kernel_case_w_count(c, k->types[1]) : 0},
                {"f32", c->columns},
                {k->types[2], c->y_count}};
    for (int i = 0; i < 4; i++) {
        void *at = guarded(SLOT_X + i, (size_t)all[i].count * kernel_type_bytes(all[i].type), at_start);
        kernel_fill(at, all[i].type, all[i].count, data, &state);
        out->in[i] = at;
    }
    out->y_bytes = (size_t)c->y_count * kernel_type_bytes(k->types[2]);
}

/* Runs `entry` over all units in parts that begin at multiples of `step` (0: one part) and compares. */
static bool run(infk_entry *entry, const infk_kernel *k, const kernel_case *c, const operands *o,
                bool rich, bool at_start, ptrdiff_t step) {
    void *y = guarded(SLOT_Y, o->y_bytes, at_start),
         *copy = guarded(SLOT_COPY, rich ? o->y_bytes : 0, at_start);
    void *const outs[2] = {y, copy};
    const ptrdiff_t units = infk_units(c->kind, &c->dims);
    union {
        const void *in;
        void *out;
    } both = {.in = outs};
    if (step == 0) step = units;
    for (ptrdiff_t begin = 0; begin < units; begin += step)
        entry(&c->dims, o->in, rich ? both.out : y, begin, begin + step < units ? begin + step : units);
    totals.runs++;
    return kernel_equal(y, o->expected, k->types[2], c->y_count) &&
           (!rich || kernel_equal(copy, o->expected_copy, k->types[2], c->y_count));
}

static void report(const infk_kernel *k, const kernel_case *c, const char *what, size_t index) {
    const infk_kind_info *info = infk_kind_get(c->kind);
    if (totals.failures++ >= 20) return;
    printf("FAILED %s, case %zu, %s:", k->name, index, what);
    for (int i = 0; i < info->n_dims; i++) printf(" %s=%td", info->dim_names[i], c->dims.fields[i]);
    printf("\n");
}

/* The reference's result: plain from the host's library; rich from the same level's reference text, whose accumulator
 * must equal the plain result. */
static void expect(const infk_kernel *k, const infk_kernel *ref, const kernel_case *c, operands *o,
                   bool rich, size_t index) {
    const ptrdiff_t units = infk_units(c->kind, &c->dims);
    memset(o->expected, 0xA5, o->y_bytes);
    if (!rich) {
        infk_reference_find(ref)(&c->dims, o->in, o->expected, 0, units);
        return;
    }
    void *outs[2] = {o->expected, o->expected_copy};
    memset(o->expected_copy, 0xA5, o->y_bytes);
    find(ROWS(LEVEL, _rich_rows), ROWS(LEVEL, _rich_n), ref->name)(&c->dims, o->in, outs, 0, units);
    void *plain = guarded(SLOT_Y, o->y_bytes, false);
    infk_reference_find(ref)(&c->dims, o->in, plain, 0, units);
    if (!kernel_equal(plain, o->expected_copy, k->types[2], c->y_count))
        report(ref, c, "reference with another epilogue", index);
}

static void add_to_hash(const infk_kernel *k, const operands *o) {
    const unsigned char *bytes = o->expected;
    if (strcmp(k->types[2], "f32") == 0)
        totals.hash = infc_check_hash_f32(totals.hash, o->expected, o->y_bytes / 4);
    else
        for (size_t i = 0; i < o->y_bytes; i++)
            totals.hash = (totals.hash ^ bytes[i]) * 0x100000001b3u;
}

static void test_case(const infk_kernel *k, const infk_kernel *ref, infk_entry *entry,
                      const kernel_case *c, size_t index, bool rich) {
    static unsigned char expected[GUARDED_BYTES], expected_copy[GUARDED_BYTES];
    operands o = {.expected = expected, .expected_copy = expected_copy};
    const kernel_data data = (kernel_data)(index % N_KERNEL_DATA);
    const ptrdiff_t units = infk_units(c->kind, &c->dims);
    const ptrdiff_t steps[] = {0, 1, units / 2 + 1, units / 3 + 1};
    for (int at_start = 0; at_start < 2; at_start++) {
        fill(k, c, data, at_start, &o);
        expect(k, ref, c, &o, rich, index);
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
            if (!run(entry, k, c, &o, rich, at_start, steps[s])) {
                report(k, c, rich ? "rich epilogue" : "plain epilogue", index);
                return;
            }
    }
    if (k == ref && !rich) add_to_hash(k, &o);
    totals.cases++;
}

static const infk_kernel *reference_of(const infk_kernel *k) {
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *r = infk_kernel_at(i);
        bool same = r->kind == k->kind && strcmp(r->tile, "ref") == 0;
        for (int t = 0; t < INFK_MAX_OPERANDS; t++)
            same = same && strcmp(r->types[t], k->types[t]) == 0;
        if (same) return r;
    }
    return NULL;
}

static void test_rows(const infk_reference_row *rows, size_t n, bool rich) {
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i), *ref = reference_of(k);
        infk_entry *entry = find(rows, n, k->name);
        if (!entry) continue; /* of another level, or not f32 with the rich epilogue */
        kernel_case c;
        long before = totals.cases;
        for (size_t index = 0;
             kernel_case_get(k->kind, index, k->types[1][0] ? k->types[1] : k->types[0], &c); index++)
            if (k->fits(&c.dims)) test_case(k, ref, entry, &c, index, rich);
        if (totals.cases == before) {
            printf("FAILED %s: no case fits it\n", k->name);
            totals.failures++;
        }
    }
}

static bool level_runs_here(void) {
#if defined(LEVEL_x86_64_avx512) && !defined(SIMULATED)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(LEVEL_x86_64_avx2) || defined(SIMULATED)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

/* 0, or 1 when the file holds another hash. */
static int hash_file(const char *mode, const char *path) {
    const bool write = strcmp(mode, "--hash-out") == 0;
    FILE *f = fopen(path, write ? "w" : "r");
    unsigned long long expected = 0;
    if (!f || (write ? fprintf(f, "%016llx\n", (unsigned long long)totals.hash)
                     : fscanf(f, "%llx", &expected)) < 1) {
        perror(path);
        return 1;
    }
    fclose(f);
    if (write || expected == totals.hash) return 0;
    printf("FAILED: results differ from the host's: hash %016llx, expected %016llx\n",
           (unsigned long long)totals.hash, expected);
    return 1;
}

int main(int argc, char **argv) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks %s\n", QUOTE(LEVEL));
        return 77;
    }
    test_rows(ROWS(LEVEL, _plain_rows), ROWS(LEVEL, _plain_n), false);
    test_rows(ROWS(LEVEL, _rich_rows), ROWS(LEVEL, _rich_n), true);
    printf("%s: %ld cases, %ld runs, %ld failures, hash %016llx\n", QUOTE(LEVEL), totals.cases,
           totals.runs, totals.failures, (unsigned long long)totals.hash);
    if (argc == 3 && hash_file(argv[1], argv[2]) != 0) totals.failures++;
    return totals.failures ? 1 : 0;
}
