#include "json_file.h"

static void drop(void *handle) { json_decref(handle); }

infc_status infc_json_object_read(infc_cx *cx, const char *path, infc_bytes text, json_t **out) {
    json_error_t error;
    json_t *root = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
    *out = NULL;
    if (!root)
        return infc_fail(cx, INFC_ERR_MODEL,
                         (infc_loc){.file = path,
                                    .line = error.line > 0 ? error.line : 1,
                                    .col = error.column > 0 ? error.column : 1},
                         "not JSON: %s", error.text);
    infc_arena_defer(cx->arena, drop, root);
    if (!json_is_object(root))
        return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path}, "it holds no JSON object");
    *out = root;
    return INFC_OK;
}
