#include "kernel_text.h"
#include "embedded.h"
#include "expand.h"
#include <string.h>

enum { MAX_INCLUDE_DEPTH = 4, MAX_PARAMS = 8 };

static infc_status embedded(infc_cx *cx, const char *path, infc_bytes *out) {
    const infc_bytes *found = infc_embedded(path);
    *out = found ? *found : (infc_bytes){NULL, 0};
    if (found) return INFC_OK;
    return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s is not in this executable", path);
}

/* ---- kernels -------------------------------------------------------------------------------------------- */

/* What the names in kernel text mean for an operand's type. */
static const struct type_text {
    const char *name, *c_type, *lowest, *max;
} type_texts[] = {
    {"f32", "float", "s_float(0xff800000u)", "s_max_nan(acc, x)"},
    {"i8", "int8_t", "INT8_MIN", "((x) > (acc) ? (x) : (acc))"},
    {"u8", "uint8_t", "", ""},
    {"i16", "int16_t", "", ""},
    {"b1", "uint8_t", "", ""},
    {"b2", "infk_b2", "", ""},
    {"b4", "infk_b4", "", ""},
    {"b8", "infk_b8", "", ""},
    {"i32", "int32_t", "", ""},
    {"i64", "int64_t", "", ""},
    {"f16", "infk_b2", "", ""},
    {"bf16", "infk_b2", "", ""},
};

/* Where panels of packed weights keep output `lane` of step k, of k_total in all (ADR 0002); and 16 outputs of a
 * step, as vectors. V_LDW_AT: of step k + i, where k is a multiple of 4. */
static const struct panel_text {
    const char *panel_k, *panel, *ldw, *v_ldw, *v_ldw_at;
} panel_f32 =
    {
        "(k)",
        "(((panel) * (k_total) + (k)) * 16 + (lane))",
        "((p)[i])",
        "v_load((panel) + (k) * 16)",
        "v_load((panel) + ((k) + (i)) * 16)",
},
  panel_f16 =
      {
          "(k)",
          "(((panel) * (k_total) + (k)) * 16 + (lane))",
          "s_from_f16((p)[i])",
          "v_load_f16((panel) + (k) * 16)",
          "v_load_f16((panel) + ((k) + (i)) * 16)",
},
  panel_bf16 =
      {
          "(k)",
          "(((panel) * (k_total) + (k)) * 16 + (lane))",
          "s_float((uint32_t)(p)[i] << 16)",
          "v_load_bf16((panel) + (k) * 16)",
          "v_load_bf16((panel) + ((k) + (i)) * 16)",
},
  panel_i8 = {
      "(((k) + 63) / 64 * 64)",
      "(((panel) * PANEL_K(k_total) + (k) / 4 * 4) * 16 + (lane) * 4 + (k) % 4)",
      "((float)(p)[i])",
      "v_i8_to_f32((panel) + (k) / 4 * 64, (int)((k) % 4))",
      "v_i8_to_f32((panel) + (k) * 16, (int)(i))",
};

static const struct type_text *type_text_of(const char *name) {
    for (size_t i = 0; i < sizeof type_texts / sizeof *type_texts; i++)
        if (strcmp(type_texts[i].name, name) == 0) return &type_texts[i];
    return NULL;
}

static bool uses(infc_bytes text, const char *word) {
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

/* Sums of integers are wider than what they add. */
static bool integer(const infk_kernel *k) {
    return strcmp(k->types[2], "i32") == 0 && strcmp(k->types[0], "i32") != 0;
}

/* Defines what `text` uses. */
static infc_status prologue(infc_cx *cx, const infk_kernel *k, const char *fn, const char *epi,
                            infc_bytes text, infc_buf *out) {
    const struct type_text *x = type_text_of(k->types[0]), *w = type_text_of(k->types[1]),
                           *acc = integer(k) ? type_text_of(k->types[2]) : x;
    if (!x || (k->types[1][0] && !w))
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s: operand type without C text", k->name);
    const char *packed = w ? w->c_type : x->c_type;
    bool bytes = strcmp(packed, "int8_t") == 0 || strcmp(packed, "uint8_t") == 0;
    /* Integer panels: 64 bytes of starts, then pairs of steps; those of bytes: starts, sums, then fours. */
    const char *packed_type = k->types[1][0] && strcmp(k->types[1], "i32") != 0 ? k->types[1] : k->types[0];
    const int head = strcmp(packed_type, "i8") == 0 ? 64 : 32;
    const struct panel_text *panel = bytes                              ? &panel_i8
                                     : strcmp(k->types[1], "f16") == 0  ? &panel_f16
                                     : strcmp(k->types[1], "bf16") == 0 ? &panel_bf16
                                                                        : &panel_f32;
    const struct {
        const char *word, *macro, *value;
    } macros[] = {
        {"INFK", "INFK(name)", fn},
        {"INFK_PART", "INFK_PART(name)", infc_arena_printf(cx->arena, "%s_##name", fn)},
        {"EPI_TYPE", "EPI_TYPE", infc_arena_printf(cx->arena, "struct %s", epi)},
        {"EPI(", "EPI(acc, o, m, n)", infc_arena_printf(cx->arena, "%s(e, acc, o, m, n)", epi)},
        {"RESULT", "RESULT", "(e->y0)"},
        {"EPI_TAIL", "EPI_TAIL(acc, o, m, n, lanes)",
         infc_arena_printf(cx->arena, "%s_tail(e, acc, o, m, n, lanes)", epi)},
        {"T *", "T", x->c_type},
        {"W *", "W", w ? w->c_type : ""},
        {"ACC", "ACC", acc->c_type},
        {"ACC_LOWEST", "ACC_LOWEST", x->lowest},
        {"ACC_MAX", "ACC_MAX(acc, x)", x->max},
        {"ld(", "ld(p, i)", "((p)[i])"},
        {"ldw(", "ldw(p, i)", panel->ldw},
        {"PANEL", "PANEL_K(k)", panel->panel_k},
        {"PANEL(", "PANEL(k_total, panel, k, lane)", panel->panel},
        {"V_LDW(", "V_LDW(panel, k)", panel->v_ldw},
        {"V_LDW_AT(", "V_LDW_AT(panel, k, i)", panel->v_ldw_at},
        {"QMIDDLE", "QMIDDLE", strcmp(x->name, "u8") == 0 ? "128" : "0"},
        {"QSTEPS(", "QSTEPS(k)", "(((k) + 3) / 4 * 4)"},
        {"QPANEL(", "QPANEL(steps, panel)", "((panel) * ((steps) * 16 + 128))"},
        {"QSTART(", "QSTART(p, lane)", "(((const infk_i4 *)(const void *)(p))[lane])"},
        {"QAT(", "QAT(k, lane)", "(128 + (k) / 4 * 64 + (lane) * 4 + (k) % 4)"},
        {"VQ_START(", "VQ_START(p)", "vi_load((const int32_t *)(const void *)(p))"},
        {"VQ_SUMS(", "VQ_SUMS(p)", "vi_load((const int32_t *)(const void *)(p) + 16)"},
        {"I4_SCALES(", "I4_SCALES(g)", "((g) / 4 * 2112 + (g) % 4 * 16)"},
        {"I4_GROUP(", "I4_GROUP(g)", "(((g) / 4 + 1) * 64 + (g) * 512)"},
        {"ISTEPS(", "ISTEPS(k)", "(((k) + 1) / 2 * 2)"},
        {"IPANEL(", "IPANEL(steps, panel)", infc_arena_printf(cx->arena, "((panel) * ((steps) * 16 + %d))", head)},
        {"ISTART(", "ISTART(p, lane)", "(((const infk_i4 *)(const void *)(p))[lane])"},
        {"IAT(", "IAT(k, lane)", infc_arena_printf(cx->arena, "(%d + (k) / 2 * 32 + (lane) * 2 + (k) %% 2)", head)},
        {"VI_START(", "VI_START(p)", "vi_load((const int32_t *)(const void *)(p))"},
        {"VI_LDW(", "VI_LDW(p, k)",
         infc_arena_printf(cx->arena, "vi_pairs_%s((p) + %d + (k) * 16)", packed_type, head)},
    };
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        if (uses(text, macros[i].word))
            infc_buf_printf(out, "#define %s %s\n", macros[i].macro, macros[i].value);
    return INFC_OK;
}

/* Undoes the definitions that are the text [from, to) of `out`. */
static void epilogue(infc_buf *out, size_t from, size_t to) {
    static const char define[] = "#define ";
    while (from < to) {
        size_t name = from + sizeof define - 1,
               line = (size_t)(strchr(out->data + from, '\n') - out->data) + 1;
        infc_buf_printf(out, "#undef %.*s\n", (int)strcspn(out->data + name, "( \n"), out->data + name);
        from = line;
    }
}

/* "mr=6 np=1" as variables for the expander. */
static infc_status params_parse(infc_cx *cx, const infk_kernel *k, infc_expand_var *vars, size_t *n) {
    const char *at = k->params + strspn(k->params, " ");
    for (*n = 0; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), name = strcspn(at, "=");
        if (*n == MAX_PARAMS || name + 1 >= length)
            return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s: parameters \"%s\"", k->name, k->params);
        vars[*n].name = infc_arena_copy_string(cx->arena, at, name);
        vars[(*n)++].text = infc_arena_copy_string(cx->arena, at + name + 1, length - name - 1);
        at += length;
    }
    return INFC_OK;
}

infc_status infc_kernel_text(infc_cx *cx, const infk_kernel *kernel, const char *fn,
                             const char *epi, infc_buf *out) {
    infc_bytes text;
    infc_buf expanded = {.arena = cx->arena};
    const char *path = infc_arena_printf(cx->arena, "templates/kernels/%s", kernel->file);
    size_t length = strlen(path);
    INFC_TRY(embedded(cx, path, &text));
    if (length > 3 && strcmp(path + length - 3, ".in") == 0) {
        infc_expand_var vars[MAX_PARAMS];
        size_t n_vars;
        INFC_TRY(params_parse(cx, kernel, vars, &n_vars));
        INFC_TRY(infc_expand(cx, path, text, vars, n_vars, &expanded));
        text = infc_buf_bytes(&expanded);
    }
    infc_buf_printf(out, "/* %s, from %s */\n", kernel->name, path);
    size_t from = out->len;
    INFC_TRY(prologue(cx, kernel, fn, epi, text, out));
    size_t to = out->len;
    infc_buf_put(out, text.ptr, text.len);
    epilogue(out, from, to);
    return INFC_OK;
}

void infc_kernel_dims_text(infk_kind kind, infc_buf *out) {
    const infk_kind_info *info = infk_kind_get(kind);
    infc_buf_printf(out, "typedef struct infk_%s_dims {\n    ptrdiff_t ", info->dims_name);
    for (int i = 0; i < info->n_dims; i++) {
        infc_buf_puts(out, info->dim_names[i]);
        infc_buf_puts(out, i + 1 == info->n_dims ? ";\n" : i % 8 == 7 ? ",\n        " : ", ");
    }
    infc_buf_printf(out, "} infk_%s_dims;\n", info->dims_name);
}

/* ---- vocabulary ----------------------------------------------------------------------------------------- */

/* A file of templates/simd/ with the files that it includes by "name" in their place. */
static infc_status paste(infc_cx *cx, const char *name, int depth, infc_buf *out) {
    static const char include[] = "#include \"";
    infc_bytes text;
    if (depth > MAX_INCLUDE_DEPTH)
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "templates/simd/%s: included too deeply", name);
    INFC_TRY(embedded(cx, infc_arena_printf(cx->arena, "templates/simd/%s", name), &text));
    const char *at = (const char *)text.ptr, *end = at + text.len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop + 1 : end;
        size_t n = sizeof include - 1;
        if ((size_t)(stop - at) > n && memcmp(at, include, n) == 0) {
            size_t length = 0;
            while (at + n + length < stop && at[n + length] != '"') length++;
            INFC_TRY(paste(cx, infc_arena_copy_string(cx->arena, at + n, length), depth + 1, out));
        } else {
            infc_buf_put(out, at, (size_t)(stop - at));
        }
        at = stop;
    }
    return INFC_OK;
}

infc_status infc_simd_file_text(infc_cx *cx, const char *name, infc_buf *out) {
    return paste(cx, name, 0, out);
}

infc_status infc_simd_text(infc_cx *cx, infc_isa isa, const char *guard, infc_buf *out) {
    infc_buf_printf(out, "#ifndef %s\n#define %s\n", guard, guard);
    INFC_TRY(paste(cx, infc_arena_printf(cx->arena, "%s.h", infc_isa_token(isa)), 0, out));
    infc_buf_printf(out, "#endif /* %s */\n", guard);
    return INFC_OK;
}
