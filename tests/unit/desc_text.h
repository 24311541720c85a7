/* desc_text.h - op descs from short text, for tables: operands "f32[1,3,8,8]{c16} f32[16,3,3,3]{panel}", attributes
 * "strides=1,1 groups:2 fn~add layout@c16". */
#ifndef DESC_TEXT_H
#define DESC_TEXT_H
#include "compiler/ir/ir.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *desc_number(const char *p, int64_t *out) {
    char *end;
    *out = strtoll(p, &end, 10);
    return end;
}

static infc_layout desc_layout(const char *p, size_t n) {
    for (infc_layout layout = INFC_LAYOUT_plain; layout <= INFC_LAYOUT_qpanel; layout++)
        if (strlen(infc_layout_name(layout)) == n && memcmp(infc_layout_name(layout), p, n) == 0)
            return layout;
    return (infc_layout)99;
}

static const char *desc_type(const char *p, infc_type *out) {
    char name[8] = {0};
    size_t n = strcspn(p, "[");
    *out = (infc_type){0};
    memcpy(name, p, n < 7 ? n : 7);
    (void)infc_dtype_parse(name, &out->dtype);
    for (p += n + 1; *p != ']'; p += *p == ',') {
        int64_t dim;
        p = desc_number(p, &dim);
        if (out->rank < INFC_MAX_RANK) out->dims[out->rank] = dim;
        out->rank++;
    }
    p++;
    if (*p == '{') {
        n = strcspn(p + 1, "}");
        out->layout = desc_layout(p + 1, n);
        p += n + 2;
    }
    return p;
}

static const char *desc_attr(infc_arena *arena, const char *p, infc_attr *out) {
    size_t n = strcspn(p, "=:~@"), length = strcspn(p, " ");
    *out = (infc_attr){.name = infc_arena_copy_string(arena, p, n)};
    const char *value = p + n + 1;
    switch (p[n]) {
    case ':':
        out->kind = INFC_ATTR_I64;
        (void)desc_number(value, &out->i);
        break;
    case '=':
        out->kind = INFC_ATTR_I64S;
        while (*value && *value != ' ') {
            int64_t number;
            value = desc_number(value, &number);
            if (out->n_ints < INFC_MAX_INTS) out->ints[out->n_ints] = number;
            out->n_ints++;
            value += *value == ',';
        }
        break;
    case '~':
        out->kind = INFC_ATTR_STR;
        out->str = infc_arena_copy_string(arena, value, length - n - 1);
        break;
    default: out->kind = INFC_ATTR_LAYOUT; out->layout = desc_layout(value, length - n - 1);
    }
    return p + length;
}

static infc_op_desc desc_of(infc_arena *arena, infc_op_kind kind, const char *operands, const char *attrs) {
    infc_op_desc desc = {.kind = kind};
    for (const char *p = operands; *p; p += *p == ' ') {
        infc_type type;
        p = desc_type(p, &type);
        if (desc.n_in < INFC_MAX_OPERANDS) desc.in[desc.n_in] = type;
        desc.n_in++;
    }
    for (const char *p = attrs; *p; p += *p == ' ')
        p = desc_attr(arena, p, &desc.attrs[desc.n_attrs++]);
    return desc;
}

#endif
