/* Why compiled code and the ONNX graph part: the same tensor is looked for in the program after each pass. */
#include "verify.h"
#include <string.h>

typedef struct search { /* for the first tensor that diverges, in the IR after one pass */
    const infc_onnx_check *check;
    const char *name;
    double rms; /* how far it is from that of the ONNX graph */
} search;

static bool tensor(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                   const infc_npz_entry *got) {
    search *s = user;
    (void)op, (void)got;
    if (strcmp(name, s->name) != 0) return true;
    const infc_npz_entry now = {
        name, reference->type, {reference->data, (size_t)infc_type_bytes(&reference->type)}};
    s->rms = infc_verify_close(&s->check->first_reference, &now, 0).rms;
    return false;
}

/* The first pass after which the tensor is at least half as far off as the compiled code has it, or null. All go on
 * from what the compiled code has before that tensor. */
static infc_status find_pass(infc_cx *cx, const infc_build *build, const infc_tensor *inputs,
                             const infc_dumped *dumped, search *s, const infc_pass **out) {
    *out = NULL;
    for (size_t i = 1; i < build->n_stages && !*out; i++) {
        infc_stage_ir *stage = &build->stages[i];
        const infc_verify_walk told = {.what = stage->pass->name, .tensor = tensor, .user = s, .forced = true};
        s->rms = 0;
        INFC_TRY(infc_verify_each(cx, &stage->ir, inputs, dumped, &told));
        if (s->rms > s->check->rows[s->check->first].own.rms / 2) *out = stage->pass;
    }
    return INFC_OK;
}

/* What the bits say: the passes decide every bit, and the reference kernels do what they decided. */
static const char *by_bits(infc_arena *arena, const infc_divergence *first) {
    return infc_arena_printf(arena,
                             "the compiled code itself: it differs from the reference kernels, "
                             "first in tensor \"%s\", %s.\n"
                             "A fault of a kernel, of the C compiler or its flags, or changed code "
                             "or weights; try CC=... or another "
                             "--target, and please report it",
                             first->tensor, first->node ? first->node : "node unknown");
}

static const char *by_pass(infc_arena *arena, const infc_pass *pass) {
    const char *hint =
        strcmp(pass->name, "quantize") == 0
            ? "The spec asks for it with `precision`: keep this layer in f32, or allow more with "
              "--tolerance"
            : infc_arena_printf(arena, "To see without it:   infc compile --without %s", pass->name);
    return infc_arena_printf(arena, "the pass %s, which keeps %s; the tensor is as far off after it.\n%s",
                             pass->name, pass->keeps, hint);
}

infc_status infc_verify_cause(infc_cx *cx, const infc_build *build, const infc_tensor *inputs,
                              const infc_dumped *dumped, infc_onnx_check *check) {
    infc_stage_ir *last = &build->stages[build->n_stages - 1];
    infc_verified_run bits = {0};
    const infc_pass *pass;
    search s = {.check = check, .name = check->rows[check->first].tensor};
    INFC_TRY(infc_verify_compare(cx, &last->ir, inputs, dumped, &bits));
    if (bits.first.tensor) {
        check->cause = by_bits(cx->arena, &bits.first);
        return INFC_OK;
    }
    check->cause = "no step is off by itself: roundings add up; allow more with --tolerance";
    if (!check->own_is_off) return INFC_OK;
    INFC_TRY(find_pass(cx, build, inputs, dumped, &s, &pass));
    check->cause = pass ? by_pass(cx->arena, pass) : "several passes together, each of them by less";
    return INFC_OK;
}
