#include "verify.h"
#include <string.h>

static void fill(infc_tensor *tensor, size_t input, infc_index_range range) {
    const size_t bytes = infc_dtype_bytes(tensor->type.dtype);
    for (int64_t i = 0; i < infc_type_count(&tensor->type); i++) {
        char *at = (char *)tensor->data + (size_t)i * bytes;
        float value = infc_check_f32(INFC_CHECK_SEED, input, (uint64_t)i);
        uint64_t random = infc_check_random(INFC_CHECK_SEED, input, (uint64_t)i) >> 61;
        int64_t small = range.least + (int64_t)random % (range.span + 1);
        if (tensor->type.dtype == INFC_DTYPE_f32) memcpy(at, &value, bytes);
        else memcpy(at, &small, bytes); /* little-endian: the low bytes */
    }
}

static infc_status missing(infc_cx *cx, const infc_npz *npz, const char *name) {
    infc_buf has = {.arena = cx->arena};
    for (size_t i = 0; i < npz->n; i++) infc_buf_printf(&has, "%s%s", i ? ", " : "", npz->names[i]);
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = npz->path},
                     "the model's input \"%s\" is not in this file; it has: %s", name, infc_buf_str(&has));
}

/* The array `name` as an input of `type`; where `open`, dims are those of the array, which the binary checks. */
static infc_status take(infc_cx *cx, const infc_npz *npz, const char *name, infc_type type,
                        bool open, infc_tensor *out) {
    infc_npz_entry entry;
    infc_type given;
    if (!infc_npz_has(npz, name)) return missing(cx, npz, name);
    INFC_TRY(infc_npz_type(cx, npz, name, &given));
    for (int i = 0; open && given.rank == type.rank && i < type.rank; i++)
        type.dims[i] = given.dims[i];
    if (!infc_type_equal(&given, &type)) {
        return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = npz->path}, "\"%s\" is %s here, the model takes %s",
                         name, infc_type_text(cx->arena, &given), infc_type_text(cx->arena, &type));
    }
    INFC_TRY(infc_npz_read(cx, npz, name, &entry));
    INFC_TRY(infc_tensor_create(cx, cx->arena, &type, out));
    if (entry.data.len) memcpy(out->data, entry.data.ptr, entry.data.len);
    return INFC_OK;
}

infc_status infc_verify_inputs(infc_cx *cx, const infc_ir *ir, const int64_t *sizes,
                               const char *path, infc_tensor *inputs, const char **names) {
    infc_npz npz = {0};
    size_t mark = cx->n_diags;
    MlirBlock body = infc_ir_body(ir->main);
    if (path) INFC_TRY(infc_npz_open(cx, path, &npz));
    for (size_t i = 0; i < infc_ir_input_count(ir); i++) {
        const infc_type declared = infc_ir_type(ir, mlirBlockGetArgument(body, (intptr_t)i)),
                        type = infc_type_at(&declared, sizes);
        names[i] = infc_ir_input_name(ir, i);
        if (path) { /* all that is wrong, at once */
            take(cx, &npz, names[i], type, infc_type_open(&declared), &inputs[i]);
            continue;
        }
        INFC_TRY(infc_tensor_create(cx, cx->arena, &type, &inputs[i]));
        fill(&inputs[i], i, infc_index_range_of(ir, i, sizes));
    }
    return infc_diags_status(cx, mark);
}
