/* emit_dims.c - dims that are known only at run time, in C. The sizes of a run are checked at the entry; every
 * expression over them that a step needs is computed once, into a struct that steps get as `z`. */
#include "emit_unit.h"

struct infc_emit_dims {
    int64_t *items;
    size_t n, cap;
    const char *values[INFC_MAX_SIZES]; /* each size over its step */
};

int infc_emit_n_sizes(const infc_emit_unit *u) { return infc_sizes_count(u->plan->sizes); }

void infc_emit_dims_begin(infc_emit_unit *u) {
    u->dims = INFC_NEW(u->cx->arena, struct infc_emit_dims, 1);
    for (int i = 0; i < infc_emit_n_sizes(u); i++) {
        const infc_size *size = infc_sizes_at(u->plan->sizes, i);
        u->dims->values[i] = size->step == 1 ? infc_arena_printf(u->cx->arena, "sizes[%d]", i)
                                             : infc_arena_printf(u->cx->arena, "(sizes[%d] / %lld)",
                                                                 i, (long long)size->step);
    }
}

const char *infc_emit_dim(const infc_emit_unit *u, int64_t dim) {
    struct infc_emit_dims *dims = u->dims;
    size_t i = 0;
    if (!infc_dim_open(dim)) return infc_arena_printf(u->cx->arena, "%lld", (long long)dim);
    while (i < dims->n && dims->items[i] != dim) i++;
    if (i == dims->n) {
        INFC_GROW(u->cx->arena, dims->items, dims->n, dims->cap);
        dims->items[dims->n++] = dim;
    }
    return infc_arena_printf(u->cx->arena, "z->d%zu", i);
}

bool infc_emit_is_open(const infc_plan *plan, const infc_plan_step *step) {
    const infk_kind_info *kind = step->kernel ? infk_kind_get(step->kernel->kind) : NULL;
    for (int i = 0; kind && i < kind->n_dims; i++)
        if (infc_dim_open(step->call.dims.fields[i])) return true;
    for (int d = 0; d < step->nest_rank; d++) {
        if (infc_dim_open(step->nest_dims[d])) return true;
        for (int i = 0; i < step->n_extras; i++)
            if (infc_dim_open(plan->extras[step->first_extra + i].strides[d])) return true;
    }
    return false;
}

/* As C over `sizes`. */
static const char *value(const infc_emit_unit *u, int64_t dim) {
    return infc_dim_c(u->cx->arena, dim, u->dims->values);
}

const char *infc_emit_dims_struct(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    const struct infc_emit_dims *dims = u->dims;
    if (infc_emit_n_sizes(u) == 0) return "";
    infc_buf_printf(&out, "struct %s_dims {\n", u->name);
    for (size_t i = 0; i < dims->n; i++)
        infc_buf_printf(&out, "    ptrdiff_t d%zu; /* %s */\n", i,
                        infc_emit_comment(u->cx->arena, infc_dim_text(u->cx->arena, dims->items[i])));
    if (dims->n == 0) infc_buf_puts(&out, "    char none;\n");
    infc_buf_puts(&out, "};\n");
    return infc_buf_str(&out);
}

const char *infc_emit_dims_text(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    const struct infc_emit_dims *dims = u->dims;
    if (infc_emit_n_sizes(u) == 0) return "";
    infc_buf_printf(&out, "\nstatic void %s_dims_set(const int64_t *sizes, struct %s_dims *z) {\n",
                    u->name, u->name);
    for (size_t i = 0; i < dims->n; i++)
        infc_buf_printf(&out, "    z->d%zu = (ptrdiff_t)(%s);\n", i, value(u, dims->items[i]));
    if (dims->n == 0) infc_buf_puts(&out, "    (void)sizes;\n    z->none = 0;\n");
    infc_buf_puts(&out, "}\n\n/* Whether the model was compiled for these. */\n");
    infc_buf_printf(&out, "static int %s_sizes_fit(const int64_t *sizes) {\n    if (!sizes) return 0;\n",
                    u->name);
    for (int i = 0; i < infc_emit_n_sizes(u); i++) {
        const infc_size *size = infc_sizes_at(u->plan->sizes, i);
        infc_buf_printf(&out, "    if (sizes[%d] < %lld || sizes[%d] > %lld", i,
                        (long long)size->min, i, (long long)size->max);
        if (size->step > 1)
            infc_buf_printf(&out, " || sizes[%d] %% %lld != 0", i, (long long)size->step);
        infc_buf_printf(&out, ") return 0; /* %s */\n", infc_emit_comment(u->cx->arena, size->name));
    }
    infc_buf_puts(&out, "    return 1;\n}\n");
    return infc_buf_str(&out);
}

/* Which input and axis is size i; there is always one. */
static void find_axis(const infc_emit_unit *u, int i, int *input, int *axis) {
    for (*input = 0; *input < u->plan->n_inputs; ++*input) {
        const infc_type *type = &u->plan->buffers[u->plan->inputs[*input]].type;
        for (*axis = 0; *axis < type->rank; ++*axis)
            if (infc_sizes_is(u->plan->sizes, i, type->dims[*axis])) return;
    }
    *input = *axis = 0;
}

const char *infc_emit_sizes_of(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    for (int i = 0; i < infc_emit_n_sizes(u); i++) {
        int input, axis;
        find_axis(u, i, &input, &axis);
        infc_buf_printf(&out, "    sizes[%d] = inputs->%s_dims[%d];\n", i, u->input_fields[input], axis);
    }
    infc_buf_printf(&out, "    if (!%s_sizes_fit(sizes)) return 0;\n", u->name);
    for (int k = 0; k < u->plan->n_inputs; k++) {
        const infc_type *type = &u->plan->buffers[u->plan->inputs[k]].type;
        for (int axis = 0; infc_type_open(type) && axis < type->rank; axis++)
            infc_buf_printf(&out, "    if (inputs->%s_dims[%d] != %s) return 0;\n",
                            u->input_fields[k], axis, value(u, type->dims[axis]));
    }
    return infc_buf_str(&out);
}

const char *infc_emit_output_dims(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    for (int k = 0; k < u->plan->n_outputs; k++) {
        const infc_type *type = &u->plan->buffers[u->plan->outputs[k]].type;
        if (!infc_type_open(type)) continue;
        infc_buf_printf(&out, "    if (outputs->%s_dims) {\n", u->output_fields[k]);
        for (int axis = 0; axis < type->rank; axis++)
            infc_buf_printf(&out, "        outputs->%s_dims[%d] = %s;\n", u->output_fields[k], axis,
                            value(u, type->dims[axis]));
        infc_buf_puts(&out, "    }\n");
    }
    return infc_buf_str(&out);
}

const char *infc_emit_size_infos(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    for (int i = 0; i < infc_emit_n_sizes(u); i++) {
        const infc_size *size = infc_sizes_at(u->plan->sizes, i);
        int input, axis;
        find_axis(u, i, &input, &axis);
        infc_buf_printf(&out, "    {%s, %lld, %lld, %lld, %d, %d},\n",
                        infc_emit_literal(u->cx->arena, size->name), (long long)size->min,
                        (long long)size->max, (long long)size->step, input, axis);
    }
    return infc_buf_str(&out);
}

void infc_emit_dims_case(const infc_emit_unit *u, int table, int index, int buffer, infc_buf *out) {
    const infc_type *type = &u->plan->buffers[buffer].type;
    if (!infc_type_open(type)) return;
    infc_buf_printf(out, "    if (table == %d && index == %d) {\n", table, index);
    for (int axis = 0; axis < type->rank; axis++)
        if (infc_dim_open(type->dims[axis]))
            infc_buf_printf(out, "        dims[%d] = %s;\n", axis, value(u, type->dims[axis]));
    infc_buf_puts(out, "    }\n");
}

const char *infc_emit_check_sizes(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    int64_t sizes[INFC_MAX_SIZES];
    infc_sizes_middle(u->plan->sizes, sizes);
    for (int i = 0; i < infc_emit_n_sizes(u); i++)
        infc_buf_printf(&out, "%s%lld", i ? ", " : "", (long long)sizes[i]);
    return infc_buf_str(&out);
}
