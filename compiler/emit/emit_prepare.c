#include "emit_prepare.h"

bool infc_emit_axis_sizes(const infc_emit_unit *u, int input, int axis, int64_t *min, int64_t *max,
                          int64_t *step) {
    const int64_t dim = u->plan->buffers[u->plan->inputs[input]].type.dims[axis];
    *min = *max = dim, *step = 1;
    if (!infc_dim_open(dim)) return true;
    for (int i = 0; i < infc_emit_n_sizes(u); i++) {
        if (!infc_sizes_is(u->plan->sizes, i, dim)) continue;
        const infc_size *size = infc_sizes_at(u->plan->sizes, i);
        *min = size->min, *max = size->max, *step = size->step;
        return true;
    }
    return false;
}

bool infc_emit_prepares(const infc_emit_unit *u) {
    return u->spec && !u->plan->target.platform->check;
}

infc_status infc_emit_prepare_begin(infc_emit_unit *u) {
    infc_arena *arena = u->cx->arena;
    u->prepare = INFC_NEW(arena, infc_emit_prepare, 1);
    *u->prepare = (infc_emit_prepare){.code = {.arena = arena},
                                      .header = {.arena = arena},
                                      .image_infos = {.arena = arena},
                                      .audio_infos = {.arena = arena},
                                      .text_infos = {.arena = arena}};
    if (!infc_emit_prepares(u)) return INFC_OK;
    INFC_TRY(infc_emit_image(u, u->prepare));
    INFC_TRY(infc_emit_audio(u, u->prepare));
    return infc_emit_text(u, u->prepare);
}

infc_status infc_emit_prepare_write(infc_emit_unit *u) {
    infc_buf text = {.arena = u->cx->arena};
    if (u->prepare->code.len == 0) return INFC_OK;
    const infc_expand_var vars[] = {{"code", infc_buf_str(&u->prepare->code)}};
    INFC_TRY(infc_emit_skeleton(u, "NAME_prepare.c.in", vars, sizeof vars / sizeof *vars, &text));
    const char *path = infc_arena_printf(u->cx->arena, "src/%s_prepare.c", u->name);
    u->out->baseline_sources[u->out->n_baseline_sources++] = path;
    return infc_emit_write(u, path, infc_buf_bytes(&text), 0644);
}
