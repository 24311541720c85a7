/* emit_header.c - NAME.h: the skeleton's holes. */
#include "emit_prepare.h"

static const char *dims_text(infc_arena *arena, const infc_type *type, const char *empty) {
    infc_buf out = {.arena = arena};
    for (int d = 0; d < type->rank; d++)
        infc_buf_printf(&out, "%s%lld", d ? ", " : "", (long long)infc_dim_most(type->dims[d]));
    return type->rank ? infc_buf_str(&out) : empty;
}

static void print_macros(const infc_emit_unit *u, const char *kind, const int *ids,
                         const char *const *fields, int n, infc_buf *out) {
    for (int i = 0; i < n; i++) {
        const infc_plan_buffer *buffer = &u->plan->buffers[ids[i]];
        const char *prefix = infc_arena_printf(u->cx->arena, "#define %s_%s_%s", u->upper, kind, fields[i]);
        infc_buf_printf(out, "%s_NAME %s\n", prefix,
                        infc_emit_literal(u->cx->arena, buffer->tensor ? buffer->tensor : buffer->name));
        infc_buf_printf(out, "%s_DTYPE INFC_DTYPE_%s\n", prefix, infc_dtype_name(buffer->type.dtype));
        infc_buf_printf(out, "%s_RANK %d\n", prefix, buffer->type.rank);
        if (infc_type_open(&buffer->type)) infc_buf_puts(out, "/* at most: */\n");
        infc_buf_printf(out, "%s_DIMS {%s}\n", prefix, dims_text(u->cx->arena, &buffer->type, "1"));
        infc_buf_printf(out, "%s_COUNT %lld\n", prefix, (long long)infc_type_count(&buffer->type));
        infc_buf_printf(out, "%s_BYTES %llu\n", prefix, (unsigned long long)buffer->bytes);
    }
}

/* Sizes that are known only at run time, with their bounds. */
static void print_sizes(const infc_emit_unit *u, infc_buf *out) {
    infc_arena *arena = u->cx->arena;
    for (int i = 0; i < infc_emit_n_sizes(u); i++) {
        const infc_size *size = infc_sizes_at(u->plan->sizes, i);
        infc_buf name = {.arena = arena};
        for (const char *p = size->name; *p; p++)
            infc_buf_printf(&name, "%c", *p == '.' ? '_' : *p);
        const char *prefix = infc_arena_printf(arena, "#define %s_SIZE_%s", u->upper, infc_buf_str(&name));
        infc_buf_printf(out, "/* %s */\n", infc_emit_comment(arena, infc_size_text(arena, size)));
        infc_buf_printf(out, "%s_MIN %lld\n%s_MAX %lld\n%s_STEP %lld\n", prefix, (long long)size->min,
                        prefix, (long long)size->max, prefix, (long long)size->step);
    }
}

static const char *tensor_macros(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    print_sizes(u, &out);
    infc_buf_printf(&out, "#define %s_N_INPUTS %d\n#define %s_N_OUTPUTS %d\n", u->upper,
                    u->plan->n_inputs, u->upper, u->plan->n_outputs);
    print_macros(u, "IN", u->plan->inputs, u->input_fields, u->plan->n_inputs, &out);
    print_macros(u, "OUT", u->plan->outputs, u->output_fields, u->plan->n_outputs, &out);
    return infc_buf_str(&out);
}

static const char *struct_fields(const infc_emit_unit *u, const char *qualifier, const int *ids,
                                 const char *const *fields, int n) {
    infc_buf out = {.arena = u->cx->arena};
    for (int i = 0; i < n; i++) {
        const infc_plan_buffer *buffer = &u->plan->buffers[ids[i]];
        infc_arena *arena = u->cx->arena;
        infc_buf shape = {.arena = arena};
        for (int d = 0; d < buffer->type.rank; d++)
            infc_buf_printf(&shape, "%s%s", d ? ", " : "", infc_dim_text(arena, buffer->type.dims[d]));
        infc_buf_printf(&out, "    %s%s *%s; /* %s[%s]", qualifier, infc_dtype_c_type(buffer->type.dtype),
                        fields[i], infc_dtype_name(buffer->type.dtype),
                        infc_emit_comment(arena, infc_buf_str(&shape)));
        infc_buf_printf(&out, "  %s */\n", infc_emit_comment(arena, buffer->tensor ? buffer->tensor : ""));
        if (!infc_type_open(&buffer->type)) continue;
        if (*qualifier)
            infc_buf_printf(&out, "    int64_t %s_dims[%d]; /* of this run */\n", fields[i],
                            buffer->type.rank);
        else
            infc_buf_printf(&out, "    int64_t *%s_dims; /* null, or room for %d: gets the shape */\n",
                            fields[i], buffer->type.rank);
    }
    if (n == 0) infc_buf_puts(&out, "    char none; /* the model has none; C wants a member */\n");
    return infc_buf_str(&out);
}

infc_status infc_emit_header_text(infc_emit_unit *u, infc_buf *out) {
    const infc_plan *plan = u->plan;
    const bool available = u->embeds || u->weights_bytes == 0;
    const infc_expand_var vars[] = {
        {"tensor_macros", tensor_macros(u)},
        {"input_fields", struct_fields(u, "const ", plan->inputs, u->input_fields, plan->n_inputs)},
        {"output_fields", struct_fields(u, "", plan->outputs, u->output_fields, plan->n_outputs)},
        {"prepares", u->prepare->header.len ? "1" : "0"},
        {"prepare_functions", infc_buf_str(&u->prepare->header)},
        {"weights_example",
         infc_arena_printf(u->cx->arena, available ? "%s_weights_embedded()" : "weights", u->name)},
    };
    return infc_emit_skeleton(u, "NAME.h.in", vars, sizeof vars / sizeof *vars, out);
}
