/* emit_unit.h - one model being emitted: what the files of emit/ share. */
#ifndef INFC_EMIT_UNIT_H
#define INFC_EMIT_UNIT_H
#include "../base/file.h"
#include "../base/hash.h"
#include "../base/map.h"
#include "../ir/eval.h"
#include "emit.h"

/* One kernel with one epilogue: the struct and functions `<name>_epi`, the inlined kernel `<name>`. */
typedef struct infc_emit_instance {
    const char *name;
    const infk_kernel *kernel;
    int step; /* the first that uses it */
} infc_emit_instance;

/* A function that steps call; those that do the same share it. */
typedef struct infc_emit_function {
    const char *name;  /* NAME_<label> */
    const char *label; /* as the plan calls it */
    int step;          /* the first that calls it */
    int instance;      /* -1: a loop nest */
    int large;         /* the instance of the step's other kernel, or -1 */
    size_t part;       /* which file it stands in */
} infc_emit_function;

typedef struct infc_emit_prepare infc_emit_prepare;

typedef struct infc_emit_unit {
    infc_cx *cx;
    const infc_plan *plan;
    const infc_spec *spec;
    const char *dir;           /* null: text only */
    const char *before;        /* as in infc_emit_options */
    const char *name, *upper;  /* digits, DIGITS */
    const char *const *locals; /* of each buffer in the function that runs the steps */
    const char *const *input_fields, *const *output_fields;
    infc_emit_instance *instances;
    infc_emit_function *functions;
    size_t n_instances, cap_instances, n_functions, cap_functions;
    int *step_function;
    size_t n_parts;                    /* files of functions; 0: they stand in NAME.c */
    struct infc_emit_dims *dims;       /* emit_dims.c */
    struct infc_emit_prepare *prepare; /* emit_prepare.c */
    uint64_t layout_hash, weights_hash, weights_bytes; /* bytes with header; 0: the model has no weights */
    const char *content_hash;
    bool embeds;             /* weights stand in the library */
    const char *levels_hash; /* of the code of newer levels; null: there are none */
    infc_emitted *out;
    size_t cap_files;
} infc_emit_unit;

/* emit_dims.c: a dim as C: a number, or a field of `z`. */
void infc_emit_dims_begin(infc_emit_unit *u);
int infc_emit_n_sizes(const infc_emit_unit *u);
const char *infc_emit_dim(const infc_emit_unit *u, int64_t dim);
/* Whether the step's function needs `z`. */
bool infc_emit_is_open(const infc_plan *plan, const infc_plan_step *step);
/* Once all text that uses infc_emit_dim is made: struct NAME_dims; NAME_dims_set, NAME_sizes_fit. */
const char *infc_emit_dims_struct(const infc_emit_unit *u);
const char *infc_emit_dims_text(const infc_emit_unit *u);
const char *infc_emit_sizes_of(const infc_emit_unit *u); /* body of NAME_sizes_of(inputs, sizes) */
const char *infc_emit_output_dims(const infc_emit_unit *u); /* outputs->y_dims from sizes */
const char *infc_emit_size_infos(const infc_emit_unit *u);
const char *infc_emit_check_sizes(const infc_emit_unit *u);
/* What infc_model.dims does for one tensor. */
void infc_emit_dims_case(const infc_emit_unit *u, int table, int index, int buffer, infc_buf *out);

/* emit_names.c */
infc_status infc_emit_names(infc_emit_unit *u);
/* Text of the model as the inside of a comment: one line of ASCII that cannot end it. */
const char *infc_emit_comment(infc_arena *arena, const char *text);
/* ... and as a C string literal, quotes included; null is 0. */
const char *infc_emit_literal(infc_arena *arena, const char *text);

/* emit_args.c: the items of a parameter or argument list, in lines of at most 100 characters; the caller writes the
 * parentheses. Begins at the end of `out`. */
typedef struct infc_emit_args {
    infc_buf *out;
    int indent; /* of lines after the first */
    bool begun;
} infc_emit_args;
infc_emit_args infc_emit_args_begin(infc_buf *out, int indent);
void infc_emit_arg(infc_emit_args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* emit_steps.c: which functions there are, and their text, those of a part in order of first use. */
infc_status infc_emit_share(infc_emit_unit *u);
/* The dim that the step's function takes as an argument (infk_place_dim), or -1. */
int infc_emit_place(const infc_emit_unit *u, const infc_plan_step *step);
infc_status infc_emit_functions(const infc_emit_unit *u, size_t part, infc_buf *out);
infc_status infc_emit_instance_text(const infc_emit_unit *u, size_t instance, infc_buf *out);
void infc_emit_function_text(const infc_emit_unit *u, size_t function, infc_buf *out);
void infc_emit_declaration(const infc_emit_unit *u, size_t function, infc_buf *out);
/* Whether `restrict` is true of the step: nothing that it reads shares memory with what it writes. */
bool infc_emit_apart(const infc_plan *plan, const infc_plan_step *step);
const infc_plan_extra *infc_emit_extra(const infc_emit_unit *u, const infc_plan_step *step, int i);
const infc_plan_buffer *infc_emit_stored(const infc_emit_unit *u, const infc_plan_step *step, int i);

/* emit.c: a unit before anything is written; its code; its headers in src/. */
infc_status infc_emit_begin(infc_emit_unit *u, infc_cx *cx, const infc_plan *plan,
                            const infc_spec *spec, const char *dir);
infc_status infc_emit_code(infc_emit_unit *u);
infc_status infc_emit_source_headers(infc_emit_unit *u, const infc_buf *header);

/* emit_levels.c: several levels in one program. Each newer one is the whole code under a name of its own, NAME__LEVEL;
 * NAME_model.c has the table of them. */
const char *infc_emit_step_infos(const infc_emit_unit *u); /* emit_model.c: rows of the table of steps */
const char *infc_emit_level_steps(const infc_emit_unit *u);
infc_status infc_emit_levels(infc_emit_unit *u, const infc_emit_options *options);
const char *infc_emit_entry(const infc_emit_unit *u); /* NAME_call, or that of the oldest level */
const char *infc_emit_level_declarations(const infc_emit_unit *u); /* of entries, oldest first */
infc_status infc_emit_level_checks(const infc_emit_unit *u, infc_buf *out); /* functions LEVEL_missing */
const char *infc_emit_level_infos(const infc_emit_unit *u);

/* emit_model.c: the body of a function that gives the first feature that is missing, but for its end. */
infc_status infc_emit_cpu_checks(const infc_emit_unit *u, const infc_target *target, infc_buf *out);

/* emit_parts.c: how functions are divided between files (after infc_emit_names), and those files. */
infc_status infc_emit_divide(infc_emit_unit *u);
const char *infc_emit_part_name(const infc_emit_unit *u, size_t part); /* "src/NAME_kernels_1.c" */
void infc_emit_declarations(const infc_emit_unit *u, infc_buf *out);   /* of all functions */
infc_status infc_emit_part_text(infc_emit_unit *u, size_t part, infc_buf *out);

/* expr.c: the body of an epilogue or of a loop nest as statements. */
typedef struct infc_expr_place {
    const char *base, *index; /* base[index] */
    bool vector;              /* 16 elements from there; else one for all lanes */
    infc_dtype dtype;         /* of them; none: as the kernel writes it */
} infc_expr_place;
typedef struct infc_expr_form {
    int lanes;         /* 1: floats s_x, 16: vectors v_x */
    const char *count; /* 16 lanes: how many of them are there, as C; null: all */
    int indent;
    const infc_expr_place *extras, *stores; /* of the step, by index */
} infc_expr_form;
void infc_expr_print(const infc_plan *plan, const infc_plan_step *step, const infc_expr_form *form,
                     infc_buf *out);
/* Marks the nodes that stores need: used[0..n_exprs). */
void infc_expr_used(const infc_plan *plan, const infc_plan_step *step, bool *used);
/* Whether what is stored depends on an extra. */
bool infc_expr_reads(infc_arena *arena, const infc_plan *plan, const infc_plan_step *step, int extra);
/* "add, relu"; with `joint` "_": "add_relu". Empty when nothing is computed. */
const char *infc_expr_words(infc_arena *arena, const infc_plan *plan, const infc_plan_step *step,
                            const char *joint);

/* nest.c: parameters and body of a loop nest, from "(" to the closing brace. */
void infc_nest_print(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out);

/* nest_integer.c: whether a nest has elements other than f32; then its body for one element. */
bool infc_nest_has_integers(const infc_emit_unit *u, const infc_plan_step *step);
void infc_nest_print_integers(const infc_emit_unit *u, const infc_plan_step *step,
                              const infc_expr_form *form, infc_buf *out);

/* Index of the input or output that the model calls `name`, or -1. */
int infc_emit_port(const infc_emit_unit *u, const int *ids, int n, const char *name);
/* The same of an input that the spec names at `loc`; fails with those that there are, and `fix`. */
infc_status infc_emit_input(const infc_emit_unit *u, infc_loc loc, const char *name, const char *fix, int *out);

/* emit_source.c, emit_header.c, emit_model.c: whole files as text. */
infc_status infc_emit_source_text(infc_emit_unit *u, infc_buf *out);
infc_status infc_emit_header_text(infc_emit_unit *u, infc_buf *out);
infc_status infc_emit_model_text(infc_emit_unit *u, infc_buf *out);

/* emit_llm.c: `llm`, the infc_llm_info, as text; src/NAME_tokenizer.c. */
const char *infc_emit_llm_info(const infc_emit_unit *u);
infc_status infc_emit_llm_write(infc_emit_unit *u);

/* emit_adapters.c: src/NAME_adapters.c, where the model takes adapters: the function of this name. */
const char *infc_emit_adapter_panel(const infc_emit_unit *u);
infc_status infc_emit_adapters_write(infc_emit_unit *u);

/* emit_serve.c: whether the binary may have a server; definitions of `serve` and `embed` for NAME_model.c, or "". */
bool infc_emit_serves(const infc_emit_unit *u);
const char *infc_emit_serve_info(const infc_emit_unit *u);
const char *infc_emit_embed_info(const infc_emit_unit *u);

/* emit_recipe.c: how many rows (first axis) the weight of a recipe has, and how many of them make a part of the result
 * that can be made alone, the parts standing one after another: whole panels of 16 outputs, a mebibyte, else all. */
int64_t infc_emit_recipe_rows(const infc_plan *plan, const infc_plan_recipe *recipe, int64_t *step);
/* What a recipe makes of rows [row, row + n): on an arena of its own, or borrowed when that is null. */
typedef struct infc_emit_made {
    infc_tensor tensor;
    infc_arena *arena;
} infc_emit_made;
infc_status infc_emit_recipe(infc_emit_unit *u, const infc_plan_recipe *recipe, int64_t row,
                             int64_t n, infc_emit_made *out);
/* Frees it; borrowed bytes of a mapped file leave memory. */
void infc_emit_made_free(infc_emit_unit *u, infc_emit_made *made);

/* emit_known.c: what a payload follows from, and whether the one that stands at `before` (or null) is of the same;
 * `path` is then another name of it and u->weights_hash is set. `keep`: the payload that was written to `path`. */
typedef struct infc_emit_origin { /* a file that weights lie in */
    infc_mapped_file file;
    const char *digest;
} infc_emit_origin;
typedef struct infc_emit_known {
    const char *key; /* null: it cannot be told */
    infc_emit_origin *origins;
    size_t n, cap, n_diags;
} infc_emit_known;
void infc_emit_known_begin(infc_emit_unit *u, infc_emit_known *known);
bool infc_emit_known_take(infc_emit_unit *u, const infc_emit_known *known, const char *before, const char *path);
void infc_emit_known_keep(infc_emit_unit *u, const infc_emit_known *known, const char *path);

/* emit_weights.c: a file of weights that is being written, and the hash of what was put. */
typedef struct infc_emit_payload {
    infc_file_writer file;
    infc_xxh64 hash;
} infc_emit_payload;
void infc_emit_put(infc_emit_payload *p, const void *bytes, size_t n);
void infc_emit_put_zeros_to(infc_emit_payload *p, uint64_t position);
/* What the recipe makes, part by part. Reads u->cx and u->plan. */
infc_status infc_emit_put_weight(infc_emit_unit *u, infc_emit_payload *p, const infc_plan_recipe *recipe);

/* The payload; hashes and sizes go to `u`. */
infc_status infc_emit_layout(infc_emit_unit *u);
infc_status infc_emit_weights(infc_emit_unit *u);

/* emit_build.c: build.sh, CMake, pkg-config, runtime sources. emit_sbom.c: NAME.spdx.json. */
infc_status infc_emit_runtime(infc_emit_unit *u);
infc_status infc_emit_build(infc_emit_unit *u);
infc_status infc_emit_sbom(infc_emit_unit *u);

/* emit.c: expands templates/model/<file> with the variables every skeleton may use, then `vars`. */
infc_status infc_emit_skeleton(infc_emit_unit *u, const char *file, const infc_expand_var *vars,
                               size_t n_vars, infc_buf *out);
infc_status infc_emit_write(infc_emit_unit *u, const char *path, infc_bytes bytes, unsigned mode);
void infc_emit_add_file(infc_emit_unit *u, const char *path); /* adds a file to what was written */

#endif
