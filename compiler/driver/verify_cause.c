/* Why compiled code and the ONNX graph part: the same tensor is looked for in the program after each pass. */
#include "verify.h"
#include <string.h>

typedef struct search { /* for the first tensor that diverges, in the IR after one pass */
    const infc_onnx_check *check;
    double tolerance;
    const char *name;
    bool found, diverges;
} search;

static void tensor(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                   const infc_npz_entry *got) {
    search *s = user;
    const infc_tensor *wanted = &s->check->first_reference;
    (void)op, (void)got;
    if (s->found || strcmp(name, s->name) != 0) return;
    const infc_npz_entry now = {name, reference->type,
                                {reference->data, (size_t)infc_type_bytes(&reference->type)}};
    s->found = true;
    s->diverges = infc_verify_close(wanted, &now, s->tolerance).n_over > 0;
}

/* The first pass after which the tensor is off, or null. */
static infc_status find_pass(infc_cx *cx, const infc_build *build, const infc_tensor *inputs,
                             const infc_dumped *dumped, search *s, const infc_pass **out) {
    *out = NULL;
    for (size_t i = 0; i < build->n_stages && !*out; i++) {
        infc_stage_ir *stage = &build->stages[i];
        const infc_verify_walk told = {.what = stage->pass ? stage->pass->name : "import", .tensor = tensor, .user = s};
        if (!stage->pass) continue; /* what is compared with */
        s->found = s->diverges = false;
        INFC_TRY(infc_verify_each(cx, &stage->ir, inputs, dumped, &told));
        if (s->diverges) *out = stage->pass;
    }
    return INFC_OK;
}

/* What the bits say: the passes decide every bit, and the reference kernels do what they decided. */
static const char *by_bits(infc_arena *arena, const infc_divergence *first) {
    return infc_arena_printf(
        arena,
        "the compiled code itself: it differs from the reference kernels, first in tensor \"%s\", %s.\n"
        "A fault of a kernel, of the C compiler or its flags, or changed code or weights; try CC=... or another "
        "--target, and please report it",
        first->tensor, first->node ? first->node : "node unknown");
}

static const char *by_pass(infc_arena *arena, const infc_pass *pass, const infc_onnx_row *row) {
    bool rules = strcmp(pass->name, "quantize") == 0;
    return infc_arena_printf(
        arena, "the pass %s, which keeps %s; after it the program is off by as much.\n%s", pass->name, pass->keeps,
        rules ? "The spec asks for it with `precision`: keep this layer in f32, or allow more with --tolerance"
        : infc_dtype_is_integer(row->type.dtype)
            ? "A step of a quantised number is decided by the last bit of a float; allow a few with --tolerance"
            : infc_arena_printf(arena,
                                "Leave it out to see:   infc compile --without %s; or allow more with --tolerance",
                                pass->name));
}

infc_status infc_verify_cause(infc_cx *cx, const infc_build *build, const infc_tensor *inputs,
                              const infc_dumped *dumped, double tolerance, infc_onnx_check *check) {
    infc_stage_ir *last = &build->stages[build->n_stages - 1];
    const infc_onnx_row *row = &check->rows[check->first];
    infc_verified_run bits = {0};
    const infc_pass *pass;
    search s = {.check = check, .tolerance = tolerance, .name = row->tensor};
    INFC_TRY(infc_verify_compare(cx, &last->ir, inputs, dumped, &bits));
    if (bits.first.tensor) {
        check->cause = by_bits(cx->arena, &bits.first);
        return INFC_OK;
    }
    INFC_TRY(find_pass(cx, build, inputs, dumped, &s, &pass));
    check->cause = pass ? by_pass(cx->arena, pass, row)
                        : "rounding that adds up over several passes; allow more with --tolerance";
    return INFC_OK;
}
