/* desc.c - attributes of an op desc: making, finding, and checking them against ops.def. */
#include "ir.h"
#include "op_rules.h"
#include <assert.h>
#include <string.h>

int64_t infc_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

infc_attr infc_attr_int(const char *name, int64_t value) {
    return (infc_attr){.name = name, .kind = INFC_ATTR_I64, .i = value};
}

infc_attr infc_attr_ints(const char *name, const int64_t *values, int n) {
    infc_attr attr = {.name = name, .kind = INFC_ATTR_I64S, .n_ints = n};
    for (int i = 0; i < n && i < INFC_MAX_INTS; i++) attr.ints[i] = values[i];
    return attr;
}

infc_attr infc_attr_string(const char *name, const char *value) {
    return (infc_attr){.name = name, .kind = INFC_ATTR_STR, .str = value};
}

infc_attr infc_attr_layout(infc_layout value) {
    return (infc_attr){.name = "layout", .kind = INFC_ATTR_LAYOUT, .layout = value};
}

const infc_attr *infc_desc_attr(const infc_op_desc *desc, const char *name) {
    for (int i = 0; i < desc->n_attrs && i < INFC_MAX_ATTRS; i++)
        if (desc->attrs[i].name && strcmp(desc->attrs[i].name, name) == 0) return &desc->attrs[i];
    return NULL;
}

infc_op_desc infc_desc_at(const infc_op_desc *desc, const int64_t *sizes) {
    infc_op_desc r = *desc;
    for (int i = 0; i < r.n_in; i++) r.in[i] = infc_type_at(&r.in[i], sizes);
    r.out = infc_type_at(&r.out, sizes);
    for (int i = 0; i < r.n_attrs; i++)
        for (int k = 0; k < r.attrs[i].n_ints; k++)
            r.attrs[i].ints[k] = infc_dim_at(r.attrs[i].ints[k], sizes);
    return r;
}

bool infc_desc_open(const infc_op_desc *desc) {
    bool open = infc_type_open(&desc->out);
    for (int i = 0; i < desc->n_in && i < INFC_MAX_OPERANDS; i++)
        open = open || infc_type_open(&desc->in[i]);
    for (int i = 0; i < desc->n_attrs && i < INFC_MAX_ATTRS; i++)
        for (int k = 0; k < desc->attrs[i].n_ints && k < INFC_MAX_INTS; k++)
            open = open || infc_dim_open(desc->attrs[i].ints[k]);
    return open;
}

infc_kernel_call infc_call_at(const infc_kernel_call *call, const int64_t *sizes) {
    infc_kernel_call r = *call;
    for (int i = 0; i < infk_kind_get(call->kind)->n_dims; i++)
        r.dims.fields[i] = (ptrdiff_t)infc_dim_at(r.dims.fields[i], sizes);
    return r;
}

int64_t infc_desc_int(const infc_op_desc *desc, const char *name) {
    const infc_attr *attr = infc_desc_attr(desc, name);
    assert(attr && attr->kind == INFC_ATTR_I64);
    return attr->i;
}

const char *infc_desc_str(const infc_op_desc *desc, const char *name) {
    const infc_attr *attr = infc_desc_attr(desc, name);
    assert(attr && attr->kind == INFC_ATTR_STR);
    return attr->str;
}

bool infc_attr_next(const char **list, infc_attr_decl *out) {
    const char *p = *list;
    while (*p == ' ') p++;
    if (!*p) return false;
    size_t n = strcspn(p, ":");
    assert(n < sizeof out->name && p[n] == ':');
    memcpy(out->name, p, n);
    out->name[n] = 0;
    p += n + 1;
    size_t k = strcspn(p, " ");
    static const char *const kinds[] = {"i64", "i64s", "str", "layout"};
    out->kind = INFC_ATTR_I64;
    for (int i = 0; i < 4; i++)
        if (strlen(kinds[i]) == k && memcmp(kinds[i], p, k) == 0) out->kind = (infc_attr_kind)i;
    *list = p + k;
    return true;
}

static const char *check_attr(infc_arena *arena, const infc_op_desc *desc, const infc_attr_decl *decl) {
    static const char *const words[] = {"a number", "a list of numbers", "a string", "a layout"};
    const infc_attr *attr = infc_desc_attr(desc, decl->name);
    if (!attr) return infc_arena_printf(arena, "attribute \"%s\" is missing", decl->name);
    if (attr->kind != decl->kind || (attr->kind == INFC_ATTR_STR && !attr->str))
        return infc_arena_printf(arena, "attribute \"%s\" must be %s", decl->name, words[decl->kind]);
    if (attr->kind == INFC_ATTR_I64S && (attr->n_ints < 0 || attr->n_ints > INFC_MAX_INTS))
        return infc_arena_printf(arena, "attribute \"%s\" has %d numbers; at most %d are supported",
                                 decl->name, attr->n_ints, INFC_MAX_INTS);
    return NULL;
}

/* Ops whose rule and call compute with dim.h alone: the lists that may hold open dims, "" when only operands may.
 * Null: wants numbers. */
static const char *open_lists(infc_op_kind kind) {
    switch (kind) {
    case INFC_OP_weight: return NULL;
    case INFC_OP_reshape:
    case INFC_OP_expand: return "shape";
    case INFC_OP_slice: return "starts shape";
    case INFC_OP_pad: return "before after";
    case INFC_OP_pool_max:
    case INFC_OP_pool_avg: return "kernel pads";
    case INFC_OP_conv:
    case INFC_OP_iconv:
    case INFC_OP_qconv: return "pads";
    case INFC_OP_attention:
    case INFC_OP_attention_masked: return "past";
    case INFC_OP_resize: return "size";
    default: return "";
    }
}

static const char *check_open(infc_arena *arena, const infc_op_desc *desc) {
    const char *lists = open_lists(desc->kind);
    for (int i = 0; i < desc->n_in && !lists; i++)
        if (infc_type_open(&desc->in[i]))
            return infc_arena_printf(arena, "operand %d is %s, but only fixed dimensions are supported here",
                                     i, infc_type_text(arena, &desc->in[i]));
    for (int i = 0; i < desc->n_attrs; i++) {
        const infc_attr *attr = &desc->attrs[i];
        if (attr->kind != INFC_ATTR_I64S || (lists && strstr(lists, attr->name))) continue;
        for (int k = 0; k < attr->n_ints; k++)
            if (infc_dim_open(attr->ints[k]))
                return infc_arena_printf(arena, "\"%s\" has %s, but only fixed numbers are supported here",
                                         attr->name, infc_dim_text(arena, attr->ints[k]));
    }
    return NULL;
}

const char *infc_desc_check(infc_arena *arena, const infc_op_desc *desc) {
    const infc_op_info *info = infc_op_get(desc->kind);
    if (desc->n_in != info->n_in)
        return infc_arena_printf(arena, "takes %d operands, not %d", info->n_in, desc->n_in);
    infc_attr_decl decl;
    for (const char *list = info->attrs; infc_attr_next(&list, &decl);) {
        const char *wrong = check_attr(arena, desc, &decl);
        if (wrong) return wrong;
    }
    for (int i = 0; i < desc->n_in; i++) {
        const char *wrong = infc_type_check(arena, &desc->in[i]);
        if (wrong) return infc_arena_printf(arena, "operand %d: %s", i, wrong);
    }
    return check_open(arena, desc);
}

const char *infc_want_f32(infc_arena *arena, const infc_op_desc *desc, int operand) {
    if (desc->in[operand].dtype == INFC_DTYPE_f32) return NULL;
    return infc_arena_printf(arena, "operand %d is %s; only f32 is supported", operand,
                             infc_dtype_name(desc->in[operand].dtype));
}

const char *infc_want_layout(infc_arena *arena, const infc_op_desc *desc, int operand, infc_layout layout) {
    if (desc->in[operand].layout == layout) return NULL;
    return infc_arena_printf(arena, "operand %d must be %s, not %s", operand,
                             infc_layout_name(layout), infc_type_text(arena, &desc->in[operand]));
}

const char *infc_want_ints(infc_arena *arena, const infc_op_desc *desc, const char *name, int n,
                           int64_t low, int64_t high) {
    const infc_attr *attr = infc_desc_attr(desc, name);
    if (attr->n_ints != n)
        return infc_arena_printf(arena, "\"%s\" must have %d numbers, not %d", name, n, attr->n_ints);
    for (int i = 0; i < n; i++)
        if (infc_dim_least(attr->ints[i]) < low || infc_dim_most(attr->ints[i]) > high)
            return infc_arena_printf(arena, "\"%s\" holds %s, which is not within %lld..%lld", name,
                                     infc_dim_text(arena, attr->ints[i]), (long long)low, (long long)high);
    return NULL;
}

const char *infc_want_int(infc_arena *arena, const infc_op_desc *desc, const char *name, int64_t low, int64_t high) {
    int64_t value = infc_desc_int(desc, name);
    if (value >= low && value <= high) return NULL;
    if (high < low)
        return infc_arena_printf(arena, "\"%s\" is %lld of nothing", name, (long long)value);
    return infc_arena_printf(arena, "\"%s\" is %lld, which is not within %lld..%lld", name,
                             (long long)value, (long long)low, (long long)high);
}
