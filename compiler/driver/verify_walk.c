#include "verify.h"
#include <string.h>

typedef struct walk {
    infc_cx *cx;
    const infc_ir *ir;
    const infc_dumped *dumped;
    const infc_verify_walk *told;
    size_t n_seen;
    bool ended;
    infc_status status; /* the first failure to read what was dumped */
} walk;

/* Told every value of the reference in program order. */
static bool seen(void *user, MlirOperation op, const char *name, const infc_tensor *tensor) {
    walk *w = user;
    const infc_npz *from = NULL;
    infc_npz_entry got;
    if (w->n_seen++ % 16 == 0) infc_progress(w->cx, "%s: op %zu", w->told->what, w->n_seen);
    if (w->told->value) w->told->value(w->told->user, op, tensor);
    if (!name || infc_ir_kind(w->ir, op) == INFC_OP_weight) return true;
    if (infc_npz_has(&w->dumped->tensors, name)) from = &w->dumped->tensors;
    else if (infc_npz_has(&w->dumped->outputs, name)) from = &w->dumped->outputs;
    if (from) w->status = infc_npz_read(w->cx, from, name, &got);
    if (w->status != INFC_OK) return false;
    w->ended = !w->told->tensor(w->told->user, op, name, tensor, from ? &got : NULL);
    if (from && w->told->forced && got.data.len && infc_type_equal(&got.type, &tensor->type))
        memcpy(tensor->data, got.data.ptr, got.data.len);
    return !w->ended;
}

/* Of outputs, also those that no op has the name of. */
static infc_status see_output(walk *w, const char *name, const infc_tensor *reference) {
    static const MlirOperation none;
    const infc_npz *outputs = &w->dumped->outputs;
    infc_npz_entry got;
    if (!infc_npz_has(outputs, name)) {
        return infc_fail(w->cx, INFC_ERR_INTERNAL, (infc_loc){.file = outputs->path},
                         "the binary wrote no output \"%s\"", name);
    }
    INFC_TRY(infc_npz_read(w->cx, outputs, name, &got));
    w->ended = !w->told->tensor(w->told->user, none, name, reference, &got);
    return INFC_OK;
}

infc_status infc_verify_each(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                             const infc_dumped *dumped, const infc_verify_walk *told) {
    infc_arena *scratch = infc_arena_create_scratch(cx->arena);
    size_t n = infc_ir_output_count(ir);
    infc_tensor *results = INFC_NEW(scratch, infc_tensor, n);
    walk w = {.cx = cx, .ir = ir, .dumped = dumped, .told = told};
    infc_status status = infc_eval_main(ir, scratch, inputs, results, seen, &w);
    if (status == INFC_OK) status = w.status;
    for (size_t i = 0; status == INFC_OK && !w.ended && i < n; i++)
        status = see_output(&w, infc_ir_output_name(ir, i), &results[i]);
    infc_arena_destroy(&scratch);
    return status;
}

const char *infc_verify_node(const infc_ir *ir, MlirOperation op) {
    if (mlirOperationIsNull(op)) return "the end of the model";
    return infc_ir_loc(ir, mlirOperationGetLocation(op)).node;
}
