#include "verify.h"

static void expect_one(const infc_npz_entry *got, const infc_npz_entry *want, infc_verified_run *r) {
    const infc_tensor expected = {want->type, (void *)(uintptr_t)want->data.ptr}; /* only read */
    double relative = infc_verify_close(&expected, got, 0).relative;
    if (r->worst < relative || !r->worst_output) {
        r->worst = relative;
        r->worst_output = want->name;
    }
}

infc_status infc_verify_expect(infc_cx *cx, const infc_npz *outputs, const char *path, infc_verified_run *result) {
    infc_npz expected;
    INFC_TRY(infc_npz_open(cx, path, &expected));
    for (size_t i = 0; i < outputs->n; i++) {
        infc_npz_entry got, want;
        infc_type type;
        if (!infc_npz_has(&expected, outputs->names[i])) continue;
        INFC_TRY(infc_npz_read(cx, outputs, outputs->names[i], &got));
        INFC_TRY(infc_npz_type(cx, &expected, outputs->names[i], &type));
        if (!infc_shape_equal(&got.type, &type)) {
            return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                             "\"%s\" is %s here, the model gives %s", outputs->names[i],
                             infc_type_text(cx->arena, &type), infc_type_text(cx->arena, &got.type));
        }
        INFC_TRY(infc_npz_read(cx, &expected, outputs->names[i], &want));
        expect_one(&got, &want, result);
    }
    if (result->worst_output) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                     "none of the model's outputs is in this file; they are "
                     "matched by name, the first is \"%s\"",
                     outputs->n ? outputs->names[0] : "");
}
