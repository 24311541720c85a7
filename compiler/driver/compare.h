/* compare.h - parts of `infc compare`, one file each: a model on many targets, what each costs, whether all give the
 * same bits, and how that differs from an earlier comparison. */
#ifndef INFC_COMPARE_H
#define INFC_COMPARE_H
#include "compile.h"
#include "json.h"
#include "table.h"
#include "verify.h"

typedef enum infc_agreement {
    INFC_AGREES,     /* every tensor has the bits of the reference kernels */
    INFC_DIFFERS,    /* one has not */
    INFC_NOT_RUN,    /* no compiler, or nothing here that runs it */
    INFC_RUN_FAILED, /* it could not be compiled, or ended otherwise than well */
    INFC_N_AGREEMENTS
} infc_agreement;

/* What a metric was, and is; NAN: not known. */
typedef struct infc_measure {
    double now, before;
} infc_measure;

typedef struct infc_function_count {
    const char *name;
    uint64_t instructions;
} infc_function_count;

/* The loop that multiplies most in the function that executes most, or, where that was not counted, in all. */
typedef struct infc_loop_cycles {
    const char *function; /* null: there is none */
    size_t instructions;
    double cycles;   /* of one time round, estimated; NAN: not known */
    const char *why; /* not known: the reason and what to do */
} infc_loop_cycles;

typedef struct infc_compared { /* one target */
    infc_target target;        /* of one with levels, one of them */
    size_t way;                /* which */
    const char *temp;          /* a folder for the files of its run, which goes with them */
    infc_agreement agreement;
    const char *how; /* "natively" */
    const char *why; /* not run, failed: the reason and what to do; else null */
    infc_divergence first;
    bool in_baseline;
    infc_measure measures[INFC_N_METRICS];
    infc_code_mix mix;
    infc_loop_cycles loop;
    const char *uncounted;  /* why instructions are not known: "(no emulator)"; null: they are */
    const char *no_counter; /* nothing here counts them: what to do; null: it was tried */
    infc_function_count *functions; /* most instructions first */
    size_t n_functions, cap_functions;
    size_t n_steps, n_reference; /* with a kernel; with one that is plain C, written for meaning and not for speed */
    double reference_share; /* part of the operations that those do */
} infc_compared;

typedef struct infc_regression {
    const char *target, *text; /* "instructions 201,377 -> 226,410, +12.4 %, limit 5 %" */
} infc_regression;

typedef struct infc_comparison {
    infc_cx *cx;
    const infc_spec *spec;
    const char *model, *model_sha256, *temp;
    infc_compared *results;
    size_t n, n_finished;         /* rows; the first of them that are done */
    const char *baseline;         /* path, or null */
    struct json_t *baseline_json; /* what it holds; null: it is not there yet */
    bool updates;                 /* it is to be written, not compared with */
    infc_regression *regressions;
    size_t n_regressions, cap_regressions;
} infc_comparison;

typedef struct infc_metric_info {
    const char *name, *unit, *meaning;
} infc_metric_info;
extern const infc_metric_info infc_metrics[INFC_N_METRICS];
extern const char *const infc_agreement_words[]; /* "identical", "differs", "not_run", "failed": in files */
const char *infc_agreement_text(infc_agreement agreement); /* the same for people: "not run" */
/* "21.4 KiB", "201,377", "31.2 us"; "-" for what is not known. */
const char *infc_metric_text(infc_arena *arena, infc_metric metric, double value);
/* The change of one metric in per cent; NAN where one of both is not known. 0 to more is infinite. */
double infc_measure_change(const infc_measure *measure);
/* "+10.0 %", with as many digits as show whether it is over the limit (NAN: there is none). */
const char *infc_change_text(infc_arena *arena, double percent, double limit);

/* compare_measure.c: compiles for all targets that have a compiler, one after another, and runs each that runs here. */
infc_status infc_compare_measure(infc_comparison *c, const infc_compile_options *compile);
/* The targets that were finished when it failed, in words; null: none. */
const char *infc_compare_so_far(const infc_comparison *c);
/* compare_count.c: instructions of the model's functions in one run, under the target's emulator. Where that
 * cannot count or there is none, the metric stays unknown and `uncounted` says why. */
infc_status infc_compare_count(infc_comparison *c, const char *binary, const char *inputs, infc_compared *out);
/* compare_loop.c: static cycles of the hottest loop, by llvm-mca if it is installed. */
infc_status infc_compare_loop(infc_comparison *c, infc_compared *out);
/* compare_baseline_file.c: reads `path`, sets c->baseline and c->baseline_json; refuses what is no comparison. With
 * c->updates it may also be missing or empty, and can be written afterwards. */
infc_status infc_compare_baseline_read(infc_comparison *c, const char *path);
/* compare_update.c: writes the baseline: this comparison, and of what the file had the targets and metrics that were
 * not measured now; says what was written, and what was kept. When a target differs or failed the file stays. */
infc_status infc_compare_update(const infc_comparison *c);
/* compare_baseline.c: refuses the baseline, if there is one, when it is of another model. */
infc_status infc_compare_baseline_suits(infc_comparison *c, const char *model);
/* Takes the baseline into the measures, and records what is worse than the spec allows. */
void infc_compare_baseline(infc_comparison *c);
/* One more of "a, b". */
void infc_compare_list(infc_buf *names, const char *name);
/* The row of that name, or null. */
const infc_compared *infc_compare_find(const infc_comparison *c, const char *name);
/* Whether the program ran to its end, right or wrong. */
bool infc_compare_ran(const infc_compared *r);
/* Whether the spec wants that row to be run. */
bool infc_compare_required(const infc_comparison *c, const infc_compared *r);
/* The first metric from `from` on that is limited and in the baseline, and could not be measured in this run;
 * INFC_N_METRICS: none. */
int infc_compare_unmeasured(const infc_comparison *c, const infc_compared *r, int from);
/* Whether all targets agree and nothing regressed; targets that the spec requires were run. */
bool infc_compare_ok(const infc_comparison *c);
/* Why not, one sentence each. */
size_t infc_compare_faults(const infc_comparison *c, const char ***out);

/* compare_outputs.c: reports in several forms, to standard output (path null) or to files. */
typedef struct infc_compare_output {
    const char *path;
    void (*put)(const infc_comparison *c, infc_buf *out);
} infc_compare_output;
typedef struct infc_compare_outputs {
    infc_compare_output *items;
    size_t n;
} infc_compare_outputs;
/* Of the values of --format and of -o; `json`: --json was given. */
infc_status infc_compare_outputs_choose(infc_cx *cx, const infc_texts *names, const infc_texts *files,
                                        bool json, infc_compare_outputs *out);
/* Before hours of work: each can be written, and is neither what is read nor the baseline nor another of them. */
infc_status infc_compare_outputs_check(infc_cx *cx, const infc_compare_outputs *outputs, const char *baseline);
infc_status infc_compare_outputs_write(const infc_comparison *c,
                                       const infc_compare_outputs *outputs, infc_buf *out);

/* compare_text.c, compare_json.c, compare_junit.c, compare_html.c */
void infc_compare_text(const infc_comparison *c, infc_buf *out);
void infc_compare_markdown(const infc_comparison *c, infc_buf *out);
void infc_compare_json(const infc_comparison *c, infc_buf *out);
/* What it begins with, a baseline too: the object, and what was compared. */
void infc_compare_json_begin(const infc_comparison *c, infc_json *j);
void infc_compare_junit(const infc_comparison *c, infc_buf *out);
void infc_compare_html(const infc_comparison *c, infc_buf *out);
/* compare_mix.c: a table of what the code of each target is made of; JSON members of one. */
infc_table infc_compare_mix_table(const infc_comparison *c);
void infc_compare_mix_json(const infc_compared *r, infc_json *j);
/* & < > " as entities. */
void infc_compare_escape(infc_buf *out, const char *text);

#endif
