/* pad.c - more elements before and after, along any axes of a plain tensor of any element type. The kernel walks
 * four axes, counted after merging neighbours that are not padded. */
#include "../op_rules.h"
#include <string.h>

enum { MAX_AXES = 4 };

typedef struct axis {
    int64_t x, before, y;
} axis;

static int mode_of(const char *name) {
    static const char *const modes[] = {"constant", "edge", "reflect"};
    for (int i = 0; i < 3; i++)
        if (strcmp(modes[i], name) == 0) return i;
    return -1;
}

static int walk(const infc_op_desc *desc, axis *axes) {
    const infc_type *x = &desc->in[0];
    const int64_t *before = infc_desc_attr(desc, "before")->ints,
                  *after = infc_desc_attr(desc, "after")->ints;
    int n = 0;
    bool padded = true;
    for (int i = 0; i < x->rank; i++) {
        bool here = before[i] != 0 || after[i] != 0;
        if (!here && x->dims[i] == 1) continue;
        if (!here && !padded) {
            axes[n - 1].x = infc_dim_mul(axes[n - 1].x, x->dims[i]);
            axes[n - 1].y = infc_dim_mul(axes[n - 1].y, x->dims[i]);
        } else {
            int64_t y = infc_dim_add(infc_dim_add(before[i], x->dims[i]), after[i]);
            axes[n++] = (axis){x->dims[i], before[i], y};
        }
        padded = here;
    }
    return n;
}

/* Of all sizes: what is mirrored must be there. */
static const char *check_reach(infc_arena *arena, int mode, int i, int64_t extent, int64_t before, int64_t after) {
    const int64_t pads[] = {before, after};
    for (int side = 0; side < 2 && mode != 0; side++) {
        int64_t rest = mode == 1 ? extent : infc_dim_sub(extent, pads[side]);
        if (pads[side] != 0 && infc_dim_least(rest) <= 0)
            return infc_arena_printf(arena, "axis %d, %s long, cannot be padded by %s from itself", i,
                                     infc_dim_text(arena, extent), infc_dim_text(arena, pads[side]));
    }
    return NULL;
}

const char *infc_shape_pad(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    int mode = mode_of(infc_desc_str(desc, "mode"));
    if (mode < 0)
        return infc_arena_printf(arena, "unknown mode \"%s\"", infc_desc_str(desc, "mode"));
    wrong = infc_want_ints(arena, desc, "before", x->rank, 0, INFC_MAX_ELEMENTS);
    if (!wrong) wrong = infc_want_ints(arena, desc, "after", x->rank, 0, INFC_MAX_ELEMENTS);
    infc_type r = *x;
    for (int i = 0; i < x->rank && !wrong; i++) {
        int64_t before = infc_desc_attr(desc, "before")->ints[i],
                after = infc_desc_attr(desc, "after")->ints[i];
        r.dims[i] = infc_dim_add(r.dims[i], infc_dim_add(before, after));
        wrong = check_reach(arena, mode, i, x->dims[i], before, after);
    }
    if (!wrong) wrong = infc_type_check(arena, &r);
    if (wrong) return wrong;
    axis axes[INFC_MAX_RANK];
    if (walk(desc, axes) > MAX_AXES)
        return infc_arena_printf(arena, "%s: padding with more than %d axes, neighbours merged",
                                 infc_type_text(arena, x), MAX_AXES);
    *out = r;
    return NULL;
}

void infc_call_pad(const infc_op_desc *desc, infc_kernel_call *out) {
    axis axes[INFC_MAX_RANK], all[MAX_AXES] = {{1, 0, 1}, {1, 0, 1}, {1, 0, 1}, {1, 0, 1}};
    int n = walk(desc, axes), leading = n > 2 ? 2 : n - 1;
    for (int i = 0; i < n; i++) all[i < leading ? i : MAX_AXES - n + i] = axes[i];
    *out = (infc_kernel_call){.kind = INFK_pad};
    infc_call_by_size(out, desc->in[0].dtype);
    infk_pad_dims *d = &out->dims.pad;
    ptrdiff_t *ys[] = {&d->n0, &d->n1, &d->n2, &d->n3}, *xs[] = {&d->x0, &d->x1, &d->x2, &d->x3};
    ptrdiff_t *bs[] = {&d->b0, &d->b1, &d->b2, &d->b3};
    for (int i = 0; i < MAX_AXES; i++) {
        *ys[i] = (ptrdiff_t)all[i].y;
        *xs[i] = (ptrdiff_t)all[i].x;
        *bs[i] = (ptrdiff_t)all[i].before;
    }
    d->mode = mode_of(infc_desc_str(desc, "mode"));
    d->fill = (ptrdiff_t)infc_desc_int(desc, "fill");
}
