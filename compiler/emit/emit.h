/* emit.h - a plan as files: C, headers, weights, build files, reports. Sees no IR. */
#ifndef INFC_EMIT_H
#define INFC_EMIT_H
#include "../plan/plan.h"
#include "expand.h"
#include "kernel_text.h"

typedef struct infc_emit_options {
    const infc_spec *spec;
    const char *dir;         /* folder to write to: DIR/NAME.h, DIR/src/... */
    const infc_plan *levels; /* of the target's levels, from the second on */
    const char *before; /* null, or the folder of an earlier compile: weights that are the same are shared with it */
} infc_emit_options;

/* How the C of a model is compiled: DIR is the working directory (or use -I for the three folders). Everything
 * else that decides bits is in the text itself. */
#define INFC_EMIT_CFLAGS_WITH(pic)                                               \
    "-std=c11 -O3 -ffp-contract=off -fno-math-errno " pic "-fvisibility=hidden " \
    "-ffunction-sections"
#define INFC_EMIT_CFLAGS INFC_EMIT_CFLAGS_WITH("-fPIC ")
#define INFC_EMIT_RUNTIME_CFLAGS \
    "-std=c11 -O2 -ffp-contract=off -fvisibility=hidden -ffunction-sections"
#define INFC_EMIT_INCLUDES "-I. -Isrc -Isrc/infrt"
#define INFC_EMIT_LDFLAGS "-Wl,--gc-sections -pthread -lm"

/* C of one of the newer levels, compiled with its cflags. */
typedef struct infc_emitted_level {
    const char *entry; /* what the table of levels calls */
    const infc_target *target;
    const char **sources;
    size_t n_sources;
    const char *step_infos; /* as the table of steps has them */
    int n_steps;
} infc_emitted_level;

/* What was written, for link and reports. Names relative to `dir`. */
typedef struct infc_emitted {
    /* C of the model, compiled with the target's cflags: library and binary. */
    const char **model_sources;
    size_t n_model_sources;
    const char *entry; /* of the oldest level, when there are several */
    infc_emitted_level *levels;
    size_t n_levels;
    /* Also for both, but with baseline_cflags: it runs before the CPU is known to fit. */
    const char **baseline_sources;
    size_t n_baseline_sources;
    /* infrt and main, with baseline_cflags: binary only. Without an operating system: what runs it for a check. */
    const char **runtime_sources;
    size_t n_runtime_sources;
    /* Of language models: their server, compiled like infrt, where the libraries that it needs are found. */
    const char **serve_sources;
    size_t n_serve_sources;
    const char *baseline_cflags; /* of the oldest target of the architecture */
    /* "src/NAME.weights": header and tensors; null when the model has none. */
    const char *weights_file;
    /* "src/NAME_weights.S", assembled with -Isrc; null with weights: file. A binary without it compiles
     * baseline_sources with -DINFC_NO_EMBEDDED_WEIGHTS. */
    const char *weights_asm;
    const char *header; /* "NAME.h" */
    const char **files; /* everything written, these included */
    size_t n_files;
    uint64_t layout_hash, weights_hash, weights_bytes; /* as in infc_weights_header */
    const char *content_hash; /* SHA-256 of code and weights: NAME_CONTENT_HASH */
} infc_emitted;

/* INFC_EMIT_CFLAGS; without an operating system nothing is moved when it is loaded. */
const char *infc_emit_cflags(const infc_target *target);
infc_status infc_emit(infc_cx *cx, const infc_plan *plan, const infc_emit_options *options, infc_emitted *out);
/* manifest.json: provenance and SHA-256 of every emitted file and of `more`, what the linker made. Reads all of it:
 * call it once, at the end. */
infc_status infc_emit_manifest(infc_cx *cx, const infc_plan *plan, const infc_emit_options *options,
                               const infc_emitted *emitted, const char *const *more, size_t n_more);
/* Of what the spec says, not of where it lies. */
const char *infc_emit_spec_sha256(infc_cx *cx, const infc_spec *spec);
/* manifest.json of a folder with one folder for each of several targets: lists their manifests. */
infc_status infc_emit_targets_manifest(infc_cx *cx, const char *name, const char *dir,
                                       const infc_target *targets, size_t n);
/* The generated C alone, as text: for golden tests and --dump emit. */
infc_status infc_emit_source(infc_cx *cx, const infc_plan *plan, const infc_spec *spec, infc_buf *out);

#endif
