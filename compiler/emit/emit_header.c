/* emit_header.c - NAME.h: the skeleton's holes. */
#include "emit_unit.h"

static const char *dims_text(infc_arena *arena, const infc_type *type, const char *empty) {
    infc_buf out = {.arena = arena};
    for (int d = 0; d < type->rank; d++)
        infc_buf_printf(&out, "%s%lld", d ? ", " : "", (long long)type->dims[d]);
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
        infc_buf_printf(out, "%s_DIMS {%s}\n", prefix, dims_text(u->cx->arena, &buffer->type, "1"));
        infc_buf_printf(out, "%s_COUNT %lld\n", prefix, (long long)infc_type_count(&buffer->type));
        infc_buf_printf(out, "%s_BYTES %llu\n", prefix, (unsigned long long)buffer->bytes);
    }
}

static const char *tensor_macros(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
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
        infc_buf_printf(&out, "    %s%s *%s; /* %s[%s]", qualifier,
                        infc_dtype_c_type(buffer->type.dtype), fields[i],
                        infc_dtype_name(buffer->type.dtype), dims_text(u->cx->arena, &buffer->type, ""));
        infc_buf_printf(&out, "  %s */\n",
                        infc_emit_comment(u->cx->arena, buffer->tensor ? buffer->tensor : ""));
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
        {"weights_example",
         infc_arena_printf(u->cx->arena, available ? "%s_weights_embedded()" : "weights", u->name)},
    };
    return infc_emit_skeleton(u, "NAME.h.in", vars, sizeof vars / sizeof *vars, out);
}
