/* expr.c - expressions as C: one statement per node, in the order of the plan. The functions of scalar.def are
 * written over P(name), which is s_name for one float and v_name for 16 lanes. */
#include "emit_unit.h"
#include <ctype.h>
#include <string.h>

static const infc_plan_expr *node_at(const infc_plan *plan, const infc_plan_step *step, int i) {
    return &plan->exprs[step->first_expr + i];
}

void infc_expr_used(const infc_plan *plan, const infc_plan_step *step, bool *used) {
    for (int i = 0; i < step->n_exprs; i++) used[i] = false;
    for (int i = 0; i < step->n_stores; i++) {
        int expr = plan->stores[step->first_store + i].expr;
        if (expr >= 0) used[expr] = true;
    }
    for (int i = step->n_exprs; i-- > 0;) { /* users come after what they use */
        const infc_plan_expr *node = node_at(plan, step, i);
        if (!used[i] || !infc_expr_is_function(node)) continue;
        for (int a = 0; a < infc_expr_fn_arity(node); a++) used[node->args[a]] = true;
    }
}

bool infc_expr_reads(infc_arena *arena, const infc_plan *plan, const infc_plan_step *step, int extra) {
    bool *used = INFC_NEW(arena, bool, (size_t)step->n_exprs + 1);
    infc_expr_used(plan, step, used);
    for (int i = 0; i < step->n_exprs; i++) {
        const infc_plan_expr *node = node_at(plan, step, i);
        if (used[i] && node->kind == INFC_EXPR_EXTRA && node->args[0] == extra) return true;
    }
    return false;
}

const char *infc_expr_words(infc_arena *arena, const infc_plan *plan, const infc_plan_step *step,
                            const char *joint) {
    infc_buf text = {.arena = arena};
    bool *used = INFC_NEW(arena, bool, (size_t)step->n_exprs + 1);
    infc_expr_used(plan, step, used);
    for (int i = 0; i < step->n_exprs; i++) {
        const infc_plan_expr *node = node_at(plan, step, i);
        if (!used[i] || !infc_expr_is_function(node)) continue;
        infc_buf_printf(&text, "%s%s", text.len ? joint : "", infc_expr_fn_name(node));
    }
    return infc_buf_str(&text);
}

static void print_value(const infc_plan *plan, const infc_plan_step *step, int node, infc_buf *out) {
    if (node < 0 || node_at(plan, step, node)->kind == INFC_EXPR_ACC) infc_buf_puts(out, "acc");
    else infc_buf_printf(out, "t%d", node);
}

/* The text of scalar.def: P(x) by its prefix, a, b, c by the nodes they stand for; numbers and the rest as is. */
static void print_function(const infc_plan *plan, const infc_plan_step *step,
                           const infc_plan_expr *node, int lanes, infc_buf *out) {
    for (const char *p = infc_scalar_text(node->fn); *p;) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_' || (n && isdigit((unsigned char)p[0]) && p[n] == '.'))
            n++;
        if (n == 1 && *p == 'P' && p[1] == '(') {
            size_t name = strcspn(p + 2, ")");
            infc_buf_puts(out, lanes == 1 ? "s_" : "v_");
            infc_buf_put(out, p + 2, name);
            p += name + 3;
        } else if (n == 1 && *p >= 'a' && *p <= 'c') {
            print_value(plan, step, node->args[*p - 'a'], out);
            p++;
        } else {
            infc_buf_put(out, p, n ? n : 1);
            p += n ? n : 1;
        }
    }
}

static bool is_f32(infc_dtype dtype) { return dtype == INFC_DTYPE_f32 || dtype == INFC_DTYPE_NONE; }

/* Narrow integers are widened on the way in: see infc_desc_in_lanes. */
static void print_load(const infc_expr_place *from, const infc_expr_form *form, infc_buf *out) {
    const char *name = infc_dtype_name(from->dtype);
    if (is_f32(from->dtype)) {
        if (form->lanes == 1) infc_buf_printf(out, "%s[%s]", from->base, from->index);
        else if (!from->vector) infc_buf_printf(out, "v_set1(%s[%s])", from->base, from->index);
        else if (form->count)
            infc_buf_printf(out, "v_load_tail(%s + %s, %s)", from->base, from->index, form->count);
        else infc_buf_printf(out, "v_load(%s + %s)", from->base, from->index);
    } else {
        if (form->lanes == 1) infc_buf_printf(out, "(float)%s[%s]", from->base, from->index);
        else if (!from->vector)
            infc_buf_printf(out, "v_set1((float)%s[%s])", from->base, from->index);
        else if (form->count)
            infc_buf_printf(out, "v_from_int(vi_load_%s_tail(%s + %s, %s))", name, from->base,
                            from->index, form->count);
        else infc_buf_printf(out, "v_from_int(vi_load_%s(%s + %s))", name, from->base, from->index);
    }
}

/* Sums of integers as they are; whole floats as narrow integers. */
static void print_store(const infc_plan *plan, const infc_plan_step *step, int i,
                        const infc_expr_form *form, infc_buf *out) {
    const infc_expr_place *to = &form->stores[i];
    const int value = plan->stores[step->first_store + i].expr;
    const bool sum = value < 0 && !is_f32(to->dtype);
    const char *name = infc_dtype_name(to->dtype);
    const char *prefix = is_f32(to->dtype) ? "v_store" : infc_arena_printf(out->arena, "vi_store_%s", name);
    infc_buf_indent(out, form->indent);
    if (form->lanes == 1) infc_buf_printf(out, "%s[%s] = ", to->base, to->index);
    else if (form->count)
        infc_buf_printf(out, "%s_tail(%s + %s, %s, ", prefix, to->base, to->index, form->count);
    else infc_buf_printf(out, "%s(%s + %s, ", prefix, to->base, to->index);
    bool narrow = !sum && !is_f32(to->dtype);
    if (narrow && form->lanes == 1) infc_buf_printf(out, "(%s)", infc_dtype_c_type(to->dtype));
    else if (narrow) infc_buf_puts(out, "vi_whole(");
    print_value(plan, step, value, out);
    if (narrow && form->lanes != 1) infc_buf_puts(out, ")");
    infc_buf_puts(out, form->lanes == 1 ? ";\n" : ");\n");
}

/* To f32: of a sum of integers. Else a float, limited and cut off. */
static void print_convert(const infc_plan *plan, const infc_plan_step *step,
                          const infc_plan_expr *node, int lanes, infc_buf *out) {
    const infc_dtype to = (infc_dtype)node->fn;
    if (to == INFC_DTYPE_f32) infc_buf_puts(out, lanes == 1 ? "(float)" : "v_from_int(");
    else infc_buf_puts(out, lanes == 1 ? "s_limit(" : "v_limit(");
    print_value(plan, step, node->args[0], out);
    if (to != INFC_DTYPE_f32)
        infc_buf_printf(out, ", %lld.0f, %lld.0f)", (long long)infc_dtype_low(to),
                        (long long)infc_dtype_high(to));
    else if (lanes != 1) infc_buf_puts(out, ")");
}

void infc_expr_print(const infc_plan *plan, const infc_plan_step *step, const infc_expr_form *form,
                     infc_buf *out) {
    bool *used = INFC_NEW(out->arena, bool, (size_t)step->n_exprs + 1);
    infc_expr_used(plan, step, used);
    for (int i = 0; i < step->n_exprs; i++) {
        const infc_plan_expr *node = node_at(plan, step, i);
        if (!used[i] || node->kind == INFC_EXPR_ACC) continue;
        infc_buf_indent(out, form->indent);
        infc_buf_printf(out, "const %s t%d = ", form->lanes == 1 ? "float" : "vf16x", i);
        if (node->kind == INFC_EXPR_EXTRA) print_load(&form->extras[node->args[0]], form, out);
        else if (node->kind == INFC_EXPR_CONVERT) print_convert(plan, step, node, form->lanes, out);
        else print_function(plan, step, node, form->lanes, out);
        infc_buf_puts(out, ";\n");
    }
    for (int i = 0; i < step->n_stores; i++) print_store(plan, step, i, form, out);
}
