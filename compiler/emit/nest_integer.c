/* nest_integer.c - bodies of loop nests over other elements than f32: one element at a time, integers as int64_t,
 * which C compilers turn into vectors themselves. See integer.def. */
#include "emit_unit.h"
#include <ctype.h>

/* An element read and stored as another type, in lanes of f32. */
static bool fits_lanes(infc_dtype from, infc_dtype to) {
    const infc_op_desc desc = {.kind = INFC_OP_convert, .n_in = 1, .in = {{.dtype = from}}, .out = {.dtype = to}};
    return from == to ? infc_dtype_in_lanes(to) && to != INFC_DTYPE_i32 : infc_desc_in_lanes(&desc);
}

bool infc_nest_has_integers(const infc_emit_unit *u, const infc_plan_step *step) {
    for (int i = 0; i < step->n_exprs; i++)
        if (u->plan->exprs[step->first_expr + i].kind == INFC_EXPR_INTEGER) return true;
    const bool moves = step->n_exprs == 1; /* what it reads is what it stores */
    for (int s = 0; s < step->n_stores; s++) {
        const infc_dtype to = infc_emit_stored(u, step, s)->type.dtype;
        if (!fits_lanes(INFC_DTYPE_f32, to)) return true;
        for (int i = 0; i < step->n_extras; i++) {
            const infc_dtype from = u->plan->buffers[infc_emit_extra(u, step, i)->buffer].type.dtype;
            if (!fits_lanes(from, moves ? to : INFC_DTYPE_f32)) return true;
        }
    }
    return false;
}

static void print_load(const infc_expr_place *from, infc_dtype dtype, infc_buf *out) {
    infc_buf_printf(out, "%s[%s]%s", from->base, from->index, dtype == INFC_DTYPE_bool ? " != 0" : "");
}

/* The text of integer.def with a, b, c as the nodes they stand for. */
static void print_function(const infc_plan_expr *node, infc_buf *out) {
    for (const char *p = infc_integer_get(node->fn)->text; *p;) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
        if (n == 1 && *p >= 'a' && *p <= 'c') infc_buf_printf(out, "t%d", node->args[*p - 'a']);
        else infc_buf_put(out, p, n ? n : 1);
        p += n ? n : 1;
    }
}

/* Element type of a node's value: floats stay floats, everything else is int64_t. */
static infc_dtype dtype_of(const infc_emit_unit *u, const infc_plan_step *step, int node) {
    const infc_plan_expr *expr = &u->plan->exprs[step->first_expr + node];
    if (expr->kind != INFC_EXPR_EXTRA) return INFC_DTYPE_i64;
    return u->plan->buffers[infc_emit_extra(u, step, expr->args[0])->buffer].type.dtype;
}

static const char *limit(infc_arena *arena, int64_t value) {
    if (value == INT64_MIN) return "INT64_MIN";
    if (value == INT64_MAX) return "INT64_MAX";
    return infc_arena_printf(arena, "%lld", (long long)value);
}

static void print_store(const infc_emit_unit *u, const infc_plan_step *step, int i,
                        const infc_expr_place *to, infc_buf *out) {
    const int node = u->plan->stores[step->first_store + i].expr;
    const infc_dtype dtype = infc_emit_stored(u, step, i)->type.dtype, from = dtype_of(u, step, node);
    infc_buf_printf(out, "%s[%s] = ", to->base, to->index);
    if (dtype == INFC_DTYPE_bool) infc_buf_printf(out, "t%d != 0;\n", node);
    else if (from == INFC_DTYPE_f32 && dtype != from)
        infc_buf_printf(out, "(%s)s_whole(t%d, %s, %s);\n", infc_dtype_c_type(dtype), node,
                        limit(u->cx->arena, infc_dtype_low(dtype)),
                        limit(u->cx->arena, infc_dtype_high(dtype)));
    else infc_buf_printf(out, "(%s)t%d;\n", infc_dtype_c_type(dtype), node);
}

void infc_nest_print_integers(const infc_emit_unit *u, const infc_plan_step *step,
                              const infc_expr_form *form, infc_buf *out) {
    for (int i = 0; i < step->n_exprs; i++) {
        const infc_plan_expr *node = &u->plan->exprs[step->first_expr + i];
        const infc_dtype dtype = dtype_of(u, step, i);
        infc_buf_indent(out, form->indent);
        infc_buf_printf(out, "const %s t%d = ", dtype == INFC_DTYPE_f32 ? "float" : "int64_t", i);
        if (node->kind == INFC_EXPR_EXTRA) print_load(&form->extras[node->args[0]], dtype, out);
        else print_function(node, out);
        infc_buf_puts(out, ";\n");
    }
    for (int i = 0; i < step->n_stores; i++) {
        infc_buf_indent(out, form->indent);
        print_store(u, step, i, &form->stores[i], out);
    }
}
