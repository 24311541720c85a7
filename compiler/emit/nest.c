/* nest.c - the loop-nest printer: element-wise steps without a kernel.
 *
 * The innermost dim is walked in vectors of 16 with a tail known at compile time; the outer dims are one loop over
 * units, whose index is taken apart by constant divisions. With one dim only, a unit is 16 elements. Results are
 * dense over the iteration space; operands have a stride per dim, 0 or 1 in the innermost. */
#include "emit_unit.h"

static int64_t stride(const infc_plan_extra *extra, const infc_plan_step *step, int dim) {
    if (extra->access == INFC_ACCESS_STRIDED) return extra->strides[dim];
    int64_t dense = 1;
    for (int d = dim + 1; d < step->nest_rank; d++) dense = infc_dim_mul(dense, step->nest_dims[d]);
    return extra->access == INFC_ACCESS_FULL ? dense : 0;
}

static int64_t inner_extent(const infc_plan_step *step) {
    return step->nest_rank > 0 ? step->nest_dims[step->nest_rank - 1] : 1;
}

static const char *read_type(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    return infc_dtype_c_type(u->plan->buffers[infc_emit_extra(u, step, i)->buffer].type.dtype);
}

static const char *written_type(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    return infc_dtype_c_type(infc_emit_stored(u, step, i)->type.dtype);
}

static void print_parameters(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    const char *restrict_ = infc_emit_apart(u->plan, step) ? "restrict " : "";
    infc_buf_puts(out, "(");
    infc_emit_args args = infc_emit_args_begin(out, 8);
    if (infc_emit_is_open(u->plan, step))
        infc_emit_arg(&args, "const struct %s_dims *z", u->plan->name);
    for (int i = 0; i < step->n_extras; i++)
        infc_emit_arg(&args, "const %s *%sa%d", read_type(u, step, i), restrict_, i);
    for (int i = 0; i < step->n_stores; i++)
        infc_emit_arg(&args, "%s *%sy%d", written_type(u, step, i), restrict_, i);
    infc_emit_arg(&args, "ptrdiff_t begin");
    infc_emit_arg(&args, "ptrdiff_t end");
    infc_buf_puts(out, ") {\n");
    for (int i = 0; i < step->n_extras; i++)
        if (!infc_expr_reads(u->cx->arena, u->plan, step, i))
            infc_buf_printf(out, "    (void)a%d;\n", i);
}

/* One run of the body over 16 lanes, or over `count` of them. */
static void print_body(const infc_emit_unit *u, const infc_plan_step *step, const char *prefix,
                       const char *count, int indent, infc_buf *out) {
    infc_arena *arena = u->cx->arena;
    infc_expr_place *extras = INFC_NEW(arena, infc_expr_place, (size_t)step->n_extras + 1);
    infc_expr_place *stores = INFC_NEW(arena, infc_expr_place, (size_t)step->n_stores + 1);
    for (int i = 0; i < step->n_extras; i++) {
        bool moves = step->nest_rank > 0 &&
                     stride(infc_emit_extra(u, step, i), step, step->nest_rank - 1) != 0;
        extras[i] = (infc_expr_place){infc_arena_printf(arena, "%sa%d", prefix, i), moves ? "i" : "0", moves,
                                      u->plan->buffers[infc_emit_extra(u, step, i)->buffer].type.dtype};
    }
    for (int i = 0; i < step->n_stores; i++)
        stores[i] = (infc_expr_place){infc_arena_printf(arena, "%sy%d", prefix, i), "i", true,
                                      infc_emit_stored(u, step, i)->type.dtype};
    const infc_expr_form form = {16, count, indent, extras, stores};
    if (infc_nest_has_integers(u, step)) infc_nest_print_integers(u, step, &form, out);
    else infc_expr_print(u->plan, step, &form, out);
}

/* Where unit u starts: pointers p_a0 .. p_y0 .. */
static void print_bases(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    const int outer = step->nest_rank - 1;
    int64_t below = 1; /* units of one index of the dim */
    const char **index = INFC_NEW(u->cx->arena, const char *, (size_t)outer + 1);
    for (int d = outer; d-- > 0;) {
        const char *whole =
            below == 1 ? "u" : infc_arena_printf(u->cx->arena, "u / %s", infc_emit_dim(u, below));
        index[d] = d == 0 ? whole
                          : infc_arena_printf(u->cx->arena, "%s %% %s", whole,
                                              infc_emit_dim(u, step->nest_dims[d]));
        below = infc_dim_mul(below, step->nest_dims[d]);
    }
    for (int i = 0; i < step->n_extras; i++) {
        if (!infc_expr_reads(u->cx->arena, u->plan, step, i)) continue;
        infc_buf_printf(out, "        const %s *p_a%d = a%d", read_type(u, step, i), i, i);
        for (int d = 0; d < outer; d++) {
            int64_t by = stride(infc_emit_extra(u, step, i), step, d);
            if (by != 0 && step->nest_dims[d] != 1)
                infc_buf_printf(out, " + %s * %s", index[d], infc_emit_dim(u, by));
        }
        infc_buf_puts(out, ";\n");
    }
    for (int i = 0; i < step->n_stores; i++)
        infc_buf_printf(out, "        %s *p_y%d = y%d + u * %s;\n", written_type(u, step, i), i, i,
                        infc_emit_dim(u, inner_extent(step)));
}

/* One element at a time. */
static void print_elements(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    const char *extent = infc_emit_dim(u, inner_extent(step));
    if (step->nest_rank > 1) {
        infc_buf_puts(out, "    for (ptrdiff_t u = begin; u < end; u++) {\n");
        print_bases(u, step, out);
        infc_buf_printf(out, "        for (ptrdiff_t i = 0; i < %s; i++) {\n", extent);
        print_body(u, step, "p_", NULL, 12, out);
        infc_buf_puts(out, "        }\n    }\n");
        return;
    }
    infc_buf_printf(out, "    const ptrdiff_t last = end * 16 < %s ? end * 16 : %s;\n", extent, extent);
    infc_buf_puts(out, "    for (ptrdiff_t i = begin * 16; i < last; i++) {\n");
    print_body(u, step, "", NULL, 8, out);
    infc_buf_puts(out, "    }\n");
}

/* The innermost extent as whole vectors and a rest, which may be known only at run time. */
typedef struct parts {
    int64_t whole, rest;
    const char *whole_text, *rest_text;
} parts;

static parts parts_of(const infc_emit_unit *u, const infc_plan_step *step) {
    const int64_t extent = inner_extent(step);
    parts p = {.whole = infc_dim_mul(infc_dim_floor(extent, 16), 16)};
    p.rest = infc_dim_sub(extent, p.whole);
    p.whole_text = infc_emit_dim(u, p.whole);
    p.rest_text = p.rest == 0 ? "0" : infc_emit_dim(u, p.rest);
    return p;
}

static void print_rows(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    const parts p = parts_of(u, step);
    const bool asks = infc_dim_open(p.rest); /* whether there is a rest */
    infc_buf_puts(out, "    for (ptrdiff_t u = begin; u < end; u++) {\n");
    print_bases(u, step, out);
    if (p.whole != 0) {
        infc_buf_printf(out, "        for (ptrdiff_t i = 0; i < %s; i += 16) {\n", p.whole_text);
        print_body(u, step, "p_", NULL, 12, out);
        infc_buf_puts(out, "        }\n");
    }
    if (asks) infc_buf_printf(out, "        if (%s > 0) {\n    ", p.rest_text);
    if (p.rest != 0) {
        infc_buf_printf(out, "        const ptrdiff_t i = %s;\n", p.whole_text);
        print_body(u, step, "p_", p.rest_text, asks ? 12 : 8, out);
    }
    if (asks) infc_buf_puts(out, "        }\n");
    infc_buf_puts(out, "    }\n");
}

static void print_blocks(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    const parts p = parts_of(u, step);
    if (p.rest == 0) {
        infc_buf_puts(out, "    for (ptrdiff_t i = begin * 16; i < end * 16; i += 16) {\n");
        print_body(u, step, "", NULL, 8, out);
        infc_buf_puts(out, "    }\n");
        return;
    }
    if (p.whole != 0) {
        infc_buf_printf(out, "    const ptrdiff_t whole = end * 16 < %s ? end * 16 : %s;\n",
                        p.whole_text, p.whole_text);
        infc_buf_puts(out, "    for (ptrdiff_t i = begin * 16; i < whole; i += 16) {\n");
        print_body(u, step, "", NULL, 8, out);
        infc_buf_puts(out, "    }\n");
    }
    const char *last = infc_emit_dim(u, infc_dim_add(infc_dim_floor(p.whole, 16), 1));
    infc_buf_printf(out, "    if (begin < end && end == %s) {\n        const ptrdiff_t i = %s;\n",
                    last, p.whole_text);
    print_body(u, step, "", p.rest_text, 8, out);
    infc_buf_puts(out, "    }\n");
}

void infc_nest_print(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    print_parameters(u, step, out);
    if (infc_nest_has_integers(u, step)) print_elements(u, step, out);
    else if (step->nest_rank > 1) print_rows(u, step, out);
    else print_blocks(u, step, out);
    infc_buf_puts(out, "}\n");
}
