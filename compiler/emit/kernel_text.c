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

/* What the names in kernel text mean for an operand's type. `acc`: the type of sums and results. */
static const struct type_text {
    const char *name, *c_type, *acc, *lowest;
} type_texts[] = {
    {"f32", "float", "float", "s_float(0xff800000u)"},
    {"i8", "int8_t", "int8_t", "INT8_MIN"},
    {"b1", "uint8_t", "uint8_t", NULL},
    {"b2", "uint16_t", "uint16_t", NULL},
    {"b4", "uint32_t", "uint32_t", NULL},
    {"b8", "uint64_t", "uint64_t", NULL},
};

static const struct type_text *type_text_of(const char *name) {
    for (size_t i = 0; i < sizeof type_texts / sizeof *type_texts; i++)
        if (strcmp(type_texts[i].name, name) == 0) return &type_texts[i];
    return NULL;
}

static const char *const prologue_names[] = {
    "INFK",       "INFK_PART", "EPI_TYPE", "EPI", "EPI_TAIL", "T",     "W",       "ACC",
    "ACC_LOWEST", "ACC_MAX",   "ld",       "ldw", "V_LDW",    "PANEL", "PANEL_K",
};

static infc_status prologue(infc_cx *cx, const infk_kernel *k, const char *fn, const char *epi, infc_buf *out) {
    const struct type_text *x = type_text_of(k->types[0]), *w = type_text_of(k->types[1]);
    if (!x || (k->types[1][0] && !w))
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s: operand type without C text", k->name);
    infc_buf_printf(out, "#define INFK(name) %s\n#define INFK_PART(name) %s_##name\n", fn, fn);
    infc_buf_printf(out, "#define EPI_TYPE struct %s\n#define EPI(acc, o, m, n) %s(e, acc, o, m, n)\n", epi, epi);
    if (k->lanes == 16)
        infc_buf_printf(out, "#define EPI_TAIL(acc, o, m, n, lanes) %s_tail(e, acc, o, m, n, lanes)\n", epi);
    infc_buf_printf(out, "#define T %s\n#define ACC %s\n#define ld(p, i) ((p)[i])\n", x->c_type, x->acc);
    if (x->lowest) {
        const char *max = strcmp(x->name, "f32") == 0 ? "s_max_nan(acc, x)" : "((x) > (acc) ? (x) : (acc))";
        infc_buf_printf(out, "#define ACC_LOWEST %s\n#define ACC_MAX(acc, x) %s\n", x->lowest, max);
    }
    if (w) {
        infc_buf_printf(out, "#define W %s\n#define ldw(p, i) (%s(p)[i])\n", w->c_type,
                        strcmp(w->name, x->name) == 0 ? "" : "(float)");
        infc_buf_puts(
            out,
            strcmp(w->name, "i8") == 0
                ? "#define V_LDW(panel, k) v_i8_to_f32((panel) + (k) / 4 * 64, (int)((k) % 4))\n"
                : "#define V_LDW(panel, k) v_load((panel) + (k) * 16)\n");
    }
    /* Where panels of packed weights keep output `lane` of step k; k_total steps in all (ADR 0002). */
    const char *packed = w ? w->name : x->name;
    if (strcmp(packed, "i8") == 0 || strcmp(packed, "b1") == 0)
        infc_buf_puts(
            out, "#define PANEL_K(k) (((k) + 63) / 64 * 64)\n"
                 "#define PANEL(k_total, panel, k, lane) \\\n"
                 "    (((panel) * PANEL_K(k_total) + (k) / 4 * 4) * 16 + (lane) * 4 + (k) % 4)\n");
    else
        infc_buf_puts(
            out,
            "#define PANEL_K(k) (k)\n"
            "#define PANEL(k_total, panel, k, lane) (((panel) * (k_total) + (k)) * 16 + (lane))\n");
    return INFC_OK;
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
    const char *path = infc_arena_printf(cx->arena, "templates/kernels/%s", kernel->file);
    size_t length = strlen(path);
    INFC_TRY(embedded(cx, path, &text));
    infc_buf_printf(out, "/* %s, from %s */\n", kernel->name, path);
    INFC_TRY(prologue(cx, kernel, fn, epi, out));
    if (length > 3 && strcmp(path + length - 3, ".in") == 0) {
        infc_expand_var vars[MAX_PARAMS];
        size_t n_vars;
        INFC_TRY(params_parse(cx, kernel, vars, &n_vars));
        INFC_TRY(infc_expand(cx, path, text, vars, n_vars, out));
    } else {
        infc_buf_put(out, text.ptr, text.len);
    }
    for (size_t i = 0; i < sizeof prologue_names / sizeof *prologue_names; i++)
        infc_buf_printf(out, "#undef %s\n", prologue_names[i]);
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

infc_status infc_simd_text(infc_cx *cx, infc_isa isa, const char *guard, infc_buf *out) {
    infc_buf_printf(out, "#ifndef %s\n#define %s\n", guard, guard);
    INFC_TRY(paste(cx, infc_arena_printf(cx->arena, "%s.h", infc_isa_token(isa)), 0, out));
    infc_buf_printf(out, "#endif /* %s */\n", guard);
    return INFC_OK;
}
