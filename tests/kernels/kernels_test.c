/* kernels_test.c - every kernel of one level against the reference of its kind, bit by bit. Compiled once per level
 * together with what infk_expand prints for it (LEVEL: the level's token).
 *
 * For each line of kernels.def within the level and each case that fits it: the reference compiled for the host
 * computes the result; the line's text must give the same bits and touch the same bytes, when run whole, unit by unit,
 * and in two and three parts, each with an epilogue that only stores and, of f32 and i32, with one that takes in all
 * that it is handed, with a column and a full-size operand, and stores twice. Operands end where an unreadable page
 * begins or begin where one ends: half of these runs each, other halves from case to case. Above the generic level,
 * whose test has all of that, references only run whole but for every fifth case.
 *
 *   kernels_LEVEL [--hash-out FILE | --hash-expect FILE] [--every N | --sample N]
 *
 * The hash covers all results of the references: equal on every target. --every N runs only each N-th case of the
 * other kernels, from the hundredth on: what comes before are tables, of which each line has an edge of its own.
 * --sample N runs only each N-th case of all, and of the references, too: the hash is not that of all. */
#include "infc_abi.h"
#include "keep_case.h"
#include "level_here.h"
#include "level_rows.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN = INFK_SCRATCH + 1,
    FULL,
    N_IN,
    SLOT_Y = N_IN,
    SLOT_COPY,
    MAX_LINES = 32,
    ALWAYS = 100
};
#if defined(LEVEL_generic)
static const bool above_generic = false;
#else
static const bool above_generic = true;
#endif

static struct {
    long runs, failures, cases;
    uint64_t hash;
    size_t every;
    bool sampled;
} totals = {0, 0, 0, INFC_CHECK_START, 1, false};

/* One case with its operands, filled. */
typedef struct operands {
    const void *in[N_IN]; /* operands, scratch, column, full */
    size_t y_bytes;
    void *plain, *rich; /* expected results of the two epilogues */
    bool at_start;
} operands;

static infk_entry *find(const char *name) { /* null: of another level */
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(ROWS[i].name, name) == 0) return ROWS[i].entry;
    return NULL;
}

/* Operands that the kind does not have are of no bytes. */
static const char *operand_type(const infk_kernel *k, int i) {
    return i < infk_operand_count(k->kind) ? infk_operand_type(k, i) : "i8";
}

static void fill(const infk_kernel *k, const kernel_case *c, kernel_data data, operands *out) {
    uint64_t state = 12345;
    ptrdiff_t counts[N_IN] = {c->x_count, k->types[1][0] ? kernel_case_w_count(c, k->types[1]) : 0};
    if (c->w_starts) counts[1] = c->w_starts;
    for (int i = 2; i < INFK_MAX_OPERANDS; i++) counts[i] = c->more[i - 2];
    counts[INFK_SCRATCH] = infk_scratch(c->kind, &c->dims);
    counts[COLUMN] = c->columns;
    counts[FULL] = c->y_count;
    for (int i = 0; i < N_IN; i++) {
        const char *type = i == FULL                          ? k->types[2]
                           : i == COLUMN || i == INFK_SCRATCH ? "f32"
                                                              : operand_type(k, i);
        /* Operands of integer sums lie in the arena, where a pair or four may begin at the last element. */
        const size_t beyond = i > 0                      ? 0
                              : strcmp(type, "i16") == 0 ? 2
                              : strcmp(type, "u8") == 0  ? 3
                                                         : 0;
        void *at = guarded(i, (size_t)counts[i] * kernel_type_bytes(type) + beyond, out->at_start);
        const bool keep =
            keep_case_is(c->kind) && strcmp(infk_kind_get(c->kind)->dims_name, "keep") == 0;
        if (keep && i < 2 && counts[i]) keep_case_fill(c, i, at, data, &state);
        else kernel_fill(at, type, counts[i], data, &state);
        if (i == 1) kernel_case_finish_panels(c, type, at);
        linear_case_repair(c, i, at);
        out->in[i] = at;
    }
    const int last = infk_operand_count(c->kind) - 1;
    for (ptrdiff_t i = 0; c->lengths && i < c->more[last - 2]; i++) { /* some beyond the steps there are, or below 0 */
        const float length = (float)(c->lengths + 1 - (ptrdiff_t)(kernel_random(&state) % 4));
        memcpy((char *)(uintptr_t)out->in[last] + i * 4, &length, sizeof length);
    }
    out->y_bytes = (size_t)c->y_count * kernel_type_bytes(k->types[2]);
}

static bool has_rich(const infk_kernel *k) {
    return strcmp(k->types[2], "f32") == 0 || strcmp(k->types[2], "i32") == 0;
}

/* Runs `entry` over all units in parts that begin at multiples of `step` (0: one part) and compares. */
static bool run(infk_entry *entry, const infk_kernel *k, const kernel_case *c, const operands *o,
                bool rich, ptrdiff_t step) {
    const ptrdiff_t units = infk_units(c->kind, &c->dims);
    const void *in[N_IN];
    memcpy(in, o->in, sizeof in);
    if (!rich) in[COLUMN] = in[FULL] = NULL;
    void *outs[2] = {guarded(SLOT_Y, o->y_bytes, o->at_start),
                     guarded(SLOT_COPY, rich ? o->y_bytes : 0, o->at_start)};
    if (step == 0) step = units;
    for (ptrdiff_t begin = 0; begin < units; begin += step)
        entry(&c->dims, in, outs, begin, begin + step < units ? begin + step : units);
    totals.runs++;
    return kernel_equal(outs[0], rich ? o->rich : o->plain, k->types[2], c->y_count) &&
           (!rich || kernel_equal(outs[1], o->plain, k->types[2], c->y_count));
}

static void report(const infk_kernel *k, const kernel_case *c, const char *what, size_t index) {
    const infk_kind_info *info = infk_kind_get(c->kind);
    if (totals.failures++ >= 20) return;
    printf("FAILED %s, case %zu, %s:", k->name, index, what);
    for (int i = 0; i < info->n_dims; i++) printf(" %s=%td", info->dim_names[i], c->dims.fields[i]);
    printf("\n");
}

/* Expected results: plain from the library compiled for the host; rich computed from it by the reference text of the
 * level, whose accumulator must be the plain result. */
static void expect(const infk_kernel *ref, const kernel_case *c, operands *o, bool rich, size_t index) {
    const ptrdiff_t units = infk_units(c->kind, &c->dims);
    memset(o->plain, 0xA5, o->y_bytes);
    infk_reference_find(ref)(&c->dims, o->in, o->plain, 0, units);
    if (!rich) return;
    void *outs[2] = {o->rich, guarded(SLOT_COPY, o->y_bytes, false)};
    memset(o->rich, 0xA5, o->y_bytes);
    find(ref->name)(&c->dims, o->in, outs, 0, units);
    if (!kernel_equal(outs[1], o->plain, ref->types[2], c->y_count))
        report(ref, c, "two compilations of the reference", index);
}

static void add_to_hash(const infk_kernel *k, const operands *o) {
    const unsigned char *bytes = o->plain;
    if (strcmp(k->types[2], "f32") == 0)
        totals.hash = infc_check_hash_f32(totals.hash, o->plain, o->y_bytes / 4);
    else
        for (size_t i = 0; i < o->y_bytes; i++)
            totals.hash = (totals.hash ^ bytes[i]) * 0x100000001b3u;
}

/* The lines of the level whose results are those of one reference, of which all types are the same. */
typedef struct lines {
    const infk_kernel *kernels[MAX_LINES];
    infk_entry *entries[MAX_LINES];
    long cases[MAX_LINES];
    size_t n;
} lines;

static void run_line(const infk_kernel *k, infk_entry *entry, const kernel_case *c,
                     const operands *o, bool few, size_t index) {
    const ptrdiff_t units = infk_units(c->kind, &c->dims), steps[] = {0, 1, units / 2 + 1, units / 3 + 1};
    const size_t half = index + index / 4 + index / 16 + o->at_start; /* layouts go by index % 4 */
    for (size_t s = 0; s < (few ? 1 : 4); s++) {
        if ((half + s) % 2 == 0 && !run(entry, k, c, o, false, steps[s]))
            report(k, c, "storing", index);
        if ((half + s) % 2 == 1 && has_rich(k) && !run(entry, k, c, o, true, steps[s]))
            report(k, c, "epilogue with operands", index);
    }
}

static void test_case(const infk_kernel *ref, lines *of, const kernel_case *c, size_t index) {
    static unsigned char plain[GUARDED_BYTES], rich[GUARDED_BYTES];
    operands o = {.plain = plain, .rich = rich};
    const kernel_data data = (kernel_data)((index + index / 4) % N_KERNEL_DATA);
    const bool skipped = index >= (totals.sampled ? 0 : ALWAYS) && index % totals.every != 0;
    if (skipped && totals.sampled) return;
    fill(ref, c, data, &o);
    expect(ref, c, &o, !skipped && has_rich(ref), index);
    add_to_hash(ref, &o);
    for (int at_start = 0; at_start < (skipped ? 0 : 2); at_start++) {
        o.at_start = at_start;
        if (at_start) fill(ref, c, data, &o);
        for (size_t i = 0; i < of->n; i++) {
            const infk_kernel *k = of->kernels[i];
            if (!k->fits(&c->dims)) continue;
            run_line(k, of->entries[i], c, &o, k == ref && above_generic && index % 5 != 0, index);
            of->cases[i] += at_start;
        }
    }
}

static lines lines_of(const infk_kernel *ref) {
    lines of = {.n = 0};
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i);
        infk_entry *entry = find(k->name);
        bool same = entry && k->kind == ref->kind;
        for (int t = 0; t < INFK_MAX_TYPES; t++)
            same = same && strcmp(ref->types[t], k->types[t]) == 0;
        if (!same) continue;
        if (of.n == MAX_LINES) abort();
        of.kernels[of.n] = k;
        of.entries[of.n++] = entry;
    }
    return of;
}

/* The type of packed weights, as operand or result. */
static const char *w_type_of(const infk_kernel *k) {
    return k->types[k->types[1][0] && strcmp(k->types[1], "i32") != 0 ? 1 : 0];
}

static void test_reference(const infk_kernel *ref) {
    lines of = lines_of(ref);
    kernel_case c;
    for (size_t index = 0; of.n && kernel_case_get(ref->kind, index, w_type_of(ref), &c); index++)
        test_case(ref, &of, &c, index);
    const bool elsewhere = ref->kind == INFK_kv_store || ref->kind == INFK_attend || /* kv_test.c, adapter_test.c */
                           (ref->kind >= INFK_adapter_in && ref->kind <= INFK_adapter_gate);
    for (size_t i = 0; i < of.n; i++) {
        totals.cases += of.cases[i];
        if (of.cases[i] || elsewhere) continue;
        printf("FAILED %s: no case fits it\n", of.kernels[i]->name);
        totals.failures++;
    }
}

/* False when the file holds another hash. */
static bool hash_file(const char *path, bool write) {
    FILE *f = fopen(path, write ? "w" : "r");
    unsigned long long expected = 0;
    const int done = !f      ? 0
                     : write ? fprintf(f, "%016" PRIx64 "\n", totals.hash)
                             : fscanf(f, "%llx", &expected);
    if (f) fclose(f);
    if (done < 1) printf("FAILED: %s cannot be %s\n", path, write ? "written" : "read");
    if (done < 1 || write || expected == totals.hash) return done >= 1;
    printf("FAILED: results differ from the host's: hash %016" PRIx64 ", expected %016llx\n",
           totals.hash, expected);
    return false;
}

int main(int argc, char **argv) {
    const char *hash_out = NULL, *hash_expect = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--hash-out") == 0) hash_out = argv[i + 1];
        if (strcmp(argv[i], "--hash-expect") == 0) hash_expect = argv[i + 1];
        const bool sample = strcmp(argv[i], "--sample") == 0;
        if (sample || strcmp(argv[i], "--every") == 0) totals.every = (size_t)atoi(argv[i + 1]);
        totals.sampled |= sample;
    }
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks %s\n", QUOTE(LEVEL));
        return 77;
    }
    for (size_t i = 0; i < infk_kernel_count(); i++)
        if (strcmp(infk_kernel_at(i)->tile, "ref") == 0) test_reference(infk_kernel_at(i));
    printf("%s: %ld cases, %ld runs, %ld failures, hash %016" PRIx64 "\n", QUOTE(LEVEL),
           totals.cases, totals.runs, totals.failures, totals.hash);
    if (hash_out && !hash_file(hash_out, true)) totals.failures++;
    if (hash_expect && !hash_file(hash_expect, false)) totals.failures++;
    return totals.failures ? 1 : 0;
}
