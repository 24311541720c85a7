/* infk_expand - kernels as complete C files, the very text a model would get. For the build (the reference library)
 * and for the kernel tests and benchmarks.
 *
 *   infk_expand reference    the ref lines of kernels.def, as infk_reference_rows: entries of templates/reference.h
 *   infk_expand ISA          the lines within that level, as infk_<ISA>_rows, for tests
 *   infk_expand ISA FOLDER   the same, of one folder of templates/kernels
 *
 * Entries take in = the operands, from INFK_SCRATCH on scratch memory and, for tests, {column, full}, and out = y, for
 * tests an array of two pointers {y, copy}. Without `column` the epilogue stores to y; with it kernels of f32 and i32
 * compute what test_epilogue says, of all that an epilogue is handed, and store acc to copy.
 */
#include "../compiler/emit/kernel_text.h"
#include <stdio.h>
#include <string.h>

static const char *c_type(const char *type) {
    const char *text = infk_c_type(type);
    return text ? text : "";
}

static const char *vector_type(const infk_kernel *k) {
    if (k->lanes != 16) return c_type(k->types[2]);
    return strcmp(k->types[2], "f32") == 0 ? "vf16x" : "vi16x";
}

/* The opening of an epilogue function of kernel k. */
static void epilogue_head(const infk_kernel *k, bool tail, infc_buf *out) {
    infc_buf_printf(out, "static INFK_INLINE void %s_epi%s(const struct %s_epi *e, %s acc, ptrdiff_t o,\n",
                    k->name, tail ? "_tail" : "", k->name, vector_type(k));
    infc_buf_printf(out, "    ptrdiff_t m, ptrdiff_t n%s) {\n    (void)m;\n    (void)n;\n",
                    tail ? ", ptrdiff_t lanes" : "");
}

static void storing_epilogue(const infk_kernel *k, infc_buf *out) {
    infc_buf_printf(out, "struct %s_epi {\n    %s *y0;\n};\n", k->name, c_type(k->types[2]));
    if (!infk_has_epilogue(k)) return;
    epilogue_head(k, false, out);
    infc_buf_puts(out, "    e->y0[o] = acc;\n}\n");
}

/* f32: y = relu(((acc + column[n]) + full[o]) + m); i32: y = acc + 40503 n + 60493 m, modulo 2^32. Both store acc to
 * copy. */
static void test_epilogue(const infk_kernel *k, infc_buf *out) {
    const bool f32 = strcmp(k->types[2], "f32") == 0;
    static const char scalar_f32[] =
        "    if (!e->column) {\n        e->y0[o] = acc;\n        return;\n    }\n"
        "    e->copy[o] = acc;\n"
        "    acc = s_add(s_add(acc, e->column[n]), e->full[o]);\n"
        "    e->y0[o] = s_max(0.0f, s_add(acc, (float)m));\n}\n";
    static const char vector_f32[] =
        "    if (!e->column) {\n        v_store(e->y0 + o, acc);\n        return;\n    }\n"
        "    v_store(e->copy + o, acc);\n"
        "    acc = v_add(v_add(acc, v_load(e->column + n)), v_load(e->full + o));\n"
        "    v_store(e->y0 + o, v_max(v_zero(), v_add(acc, v_set1((float)m))));\n}\n";
    static const char tail_f32[] =
        "    if (!e->column) {\n        v_store_tail(e->y0 + o, lanes, acc);\n        return;\n    "
        "}\n"
        "    v_store_tail(e->copy + o, lanes, acc);\n"
        "    acc = v_add(v_add(acc, v_load_tail(e->column + n, lanes)), v_load_tail(e->full + o, "
        "lanes));\n"
        "    v_store_tail(e->y0 + o, lanes, v_max(v_zero(), v_add(acc, v_set1((float)m))));\n}\n";
    static const char scalar_i32[] =
        "    e->y0[o] = acc;\n    if (!e->column) return;\n    e->copy[o] = acc;\n"
        "    e->y0[o] = (int32_t)((uint32_t)acc + 40503u * (uint32_t)n + 60493u * "
        "(uint32_t)m);\n}\n";
#define MARKED                                                                               \
    "        e->y0[o + i] = (int32_t)((uint32_t)e->copy[o + i] + 40503u * (uint32_t)(n + i)" \
    " + 60493u * (uint32_t)m);\n}\n"
    static const char vector_i32[] = "    vi_store(e->y0 + o, acc);\n    if (!e->column) return;\n "
                                     "   vi_store(e->copy + o, acc);\n"
                                     "    for (ptrdiff_t i = 0; i < 16; i++)\n" MARKED;
    static const char tail_i32[] =
        "    vi_store_i32_tail(e->y0 + o, lanes, acc);\n    if (!e->column) return;\n"
        "    vi_store_i32_tail(e->copy + o, lanes, acc);\n"
        "    for (ptrdiff_t i = 0; i < lanes; i++)\n" MARKED;
#undef MARKED
    infc_buf_printf(out, "struct %s_epi {\n    const float *column, *full;\n    %s *y0, *copy;\n};\n",
                    k->name, c_type(k->types[2]));
    epilogue_head(k, false, out);
    if (k->lanes != 16) {
        infc_buf_puts(out, f32 ? scalar_f32 : scalar_i32);
        return;
    }
    infc_buf_puts(out, f32 ? vector_f32 : vector_i32);
    epilogue_head(k, true, out);
    infc_buf_puts(out, f32 ? tail_f32 : tail_i32);
}

static infc_status instance(infc_cx *cx, const infk_kernel *k, bool reference, infc_buf *out) {
    const char *fn = infc_arena_printf(cx->arena, "%s_body", k->name);
    const char *epi = infc_arena_printf(cx->arena, "%s_epi", k->name);
    const bool rich =
        !reference && (strcmp(k->types[2], "f32") == 0 || strcmp(k->types[2], "i32") == 0);
    if (!rich) storing_epilogue(k, out);
    else test_epilogue(k, out);
    INFC_TRY(infc_kernel_text(cx, k, fn, epi, out));
    infc_buf_printf(out, "static void %s(const void *dims, const void *const *in, void *out, ptrdiff_t begin,\n",
                    k->name);
    infc_buf_puts(out, "    ptrdiff_t end) {\n");
    if (reference) infc_buf_printf(out, "    const struct %s e = {out};\n", epi);
    else
        infc_buf_printf(out, "    void *const *outs = out;\n    const struct %s e = {%souts[0]%s};\n",
                        epi, rich ? "in[INFK_SCRATCH + 1], in[INFK_SCRATCH + 2], " : "",
                        rich ? ", outs[1]" : "");
    infc_buf_printf(out, "    %s(dims, ", fn);
    for (int i = 0; i < infk_operand_count(k->kind); i++) infc_buf_printf(out, "in[%d], ", i);
    if (infk_has_scratch(k->kind)) infc_buf_puts(out, "(float *)in[INFK_SCRATCH], ");
    infc_buf_puts(out, "&e, begin, end);\n}\n\n");
    return INFC_OK;
}

static bool wanted(const infk_kernel *k, bool reference, infc_isa isa, const char *folder) {
    const size_t length = strlen(folder);
    if (length > 0 && (strncmp(k->file, folder, length) != 0 || k->file[length] != '/'))
        return false;
    return reference ? strcmp(k->tile, "ref") == 0 : infc_isa_includes(isa, k->isa);
}

static void dims_text(infc_buf *out) {
    for (infk_kind kind = 0; kind < INFK_N_KINDS; kind++) {
        bool seen = false;
        for (infk_kind other = 0; other < kind; other++)
            seen |= strcmp(infk_kind_get(other)->dims_name, infk_kind_get(kind)->dims_name) == 0;
        if (!seen) infc_kernel_dims_text(kind, out);
    }
}

static infc_status file_text(infc_cx *cx, bool reference, infc_isa isa, const char *folder,
                             const char *table, infc_buf *out) {
    infc_buf rows = {.arena = cx->arena};
    infc_buf_puts(out, "/* Made by infk_expand from templates/; do not edit. */\n"
                       "#include <stddef.h>\n#include <stdint.h>\n");
    infc_buf_printf(out, "#define INFK_SCRATCH %d\n", INFK_SCRATCH);
    INFC_TRY(infc_simd_text(cx, isa, "INFK_SIMD_H", out));
    dims_text(out);
    infc_buf_puts(
        out, "typedef struct infk_reference_row {\n    const char *name;\n"
             "    void (*entry)(const void *, const void *const *, void *, ptrdiff_t, ptrdiff_t);\n"
             "} infk_reference_row;\n\n");
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i);
        if (!wanted(k, reference, isa, folder)) continue;
        INFC_TRY(instance(cx, k, reference, out));
        infc_buf_printf(&rows, "    {\"%s\", %s},\n", k->name, k->name);
    }
    infc_buf_printf(out, "extern const infk_reference_row %s_rows[];\nextern const size_t %s_n;\n", table, table);
    infc_buf_printf(out, "const infk_reference_row %s_rows[] = {\n%s};\n", table, infc_buf_str(&rows));
    infc_buf_printf(out, "const size_t %s_n = sizeof %s_rows / sizeof *%s_rows;\n", table, table, table);
    return INFC_OK;
}

int main(int argc, char **argv) {
    infc_cx cx;
    if (infc_cx_init(&cx) != INFC_OK) return 4;
    bool reference = argc > 1 && strcmp(argv[1], "reference") == 0;
    infc_isa isa = INFC_ISA_generic;
    if (argc > 1 && !reference)
        while (isa < INFC_N_ISAS && strcmp(infc_isa_token(isa), argv[1]) != 0) isa++;
    if (argc < 2 || isa == INFC_N_ISAS) {
        fprintf(stderr, "usage: infk_expand reference | ISA [FOLDER]\n");
        return 2;
    }
    infc_buf text = {.arena = cx.arena}, errors = {.arena = cx.arena};
    const char *table = infc_arena_printf(cx.arena, "infk_%s", argv[1]);
    infc_status status = file_text(&cx, reference, isa, argc > 2 ? argv[2] : "", table, &text);
    infc_diags_text(&cx, &errors);
    fputs(infc_buf_str(status == INFC_OK ? &text : &errors), status == INFC_OK ? stdout : stderr);
    infc_cx_deinit(&cx);
    return infc_status_exit_code(status);
}
