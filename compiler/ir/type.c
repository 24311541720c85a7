#include "type.h"
#include "op_rules.h"

bool infc_mul(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

int64_t infc_round_up(int64_t n, int64_t unit) {
    return infc_dim_mul(infc_dim_blocks(n, unit), unit);
}

const char *infc_type_check(infc_arena *arena, const infc_type *type) {
    if (infc_dtype_bytes(type->dtype) == 0)
        return infc_arena_printf(arena, "unknown element type %d", (int)type->dtype);
    if (type->rank < 0 || type->rank > INFC_MAX_RANK)
        return infc_arena_printf(arena, "%d dimensions; at most %d are supported", type->rank, INFC_MAX_RANK);
    int64_t count = 1; /* zeros count as one, so that they cannot hide an absurd extent */
    for (int i = 0; i < type->rank; i++) {
        int64_t dim = infc_dim_most(type->dims[i]), least = infc_dim_least(type->dims[i]);
        if (infc_dim_open(type->dims[i]) && least < 1)
            return infc_arena_printf(arena, "dimension %d, %s, can become %lld: raise the lower bounds in shapes",
                                     i, infc_dim_text(arena, type->dims[i]), (long long)least);
        if (dim < 0)
            return infc_arena_printf(arena, "dimension %d is negative: %lld", i, (long long)dim);
        if (!infc_mul(count, dim ? dim : 1, &count) || count > INFC_MAX_ELEMENTS)
            return infc_arena_printf(arena, "%s has too many elements; the limit is 2^40",
                                     infc_type_text(arena, type));
    }
    switch (type->layout) {
    case INFC_LAYOUT_plain: return NULL;
    case INFC_LAYOUT_c16:
        if (type->rank >= 2) return NULL;
        return infc_arena_printf(arena, "%s: c16 needs a batch and a channel dimension",
                                 infc_type_text(arena, type));
    case INFC_LAYOUT_ipanel:
        if (type->dtype != INFC_DTYPE_i8 && type->dtype != INFC_DTYPE_i16)
            return infc_arena_printf(arena, "%s: ipanel holds i8 or i16", infc_type_text(arena, type));
        /* fallthrough */
    case INFC_LAYOUT_qpanel:
        if (type->layout == INFC_LAYOUT_qpanel && type->dtype != INFC_DTYPE_i8)
            return infc_arena_printf(arena, "%s: qpanel holds i8", infc_type_text(arena, type));
        /* fallthrough */
    case INFC_LAYOUT_panel:
        if (type->rank >= 2 && type->rank <= 4) return NULL;
        return infc_arena_printf(arena, "%s: panel needs 2, 3 or 4 dimensions", infc_type_text(arena, type));
    }
    return infc_arena_printf(arena, "unknown layout %d", (int)type->layout);
}

bool infc_type_open(const infc_type *type) {
    for (int i = 0; i < type->rank && i < INFC_MAX_RANK; i++)
        if (infc_dim_open(type->dims[i])) return true;
    return false;
}

/* For all sizes: the largest that it can be. */
static infc_type largest(const infc_type *type) {
    infc_type r = *type;
    for (int i = 0; i < r.rank; i++) r.dims[i] = infc_dim_most(r.dims[i]);
    return r;
}

infc_type infc_type_at(const infc_type *type, const int64_t *sizes) {
    infc_type r = *type;
    for (int i = 0; i < r.rank; i++) r.dims[i] = infc_dim_at(r.dims[i], sizes);
    return r;
}

int64_t infc_type_count(const infc_type *type) {
    infc_type most = largest(type);
    return infc_dims_product(&most, 0, most.rank);
}

int64_t infc_dims_product(const infc_type *type, int first, int last) {
    int64_t n = 1;
    for (int i = first; i < last; i++) n = infc_dim_mul(n, type->dims[i]);
    return n;
}

int64_t infc_panel_inner(const infc_type *type) {
    int64_t inner = type->rank == 4 ? infc_dims_product(type, 1, 4) : type->dims[type->rank - 2];
    return infc_dtype_bytes(type->dtype) == 1 ? infc_round_up(inner, 64) : inner;
}

bool infc_layout_is_packed(infc_layout layout) { return layout >= INFC_LAYOUT_panel; }

int64_t infc_ipanel_elements(const infc_type *type) {
    int64_t inputs = type->rank == 4 ? type->dims[1] : type->dims[type->rank - 2];
    int64_t taps = type->rank == 4 ? type->dims[2] * type->dims[3] : 1;
    const bool bytes = type->layout == INFC_LAYOUT_qpanel;
    return infc_dim_add(infc_dim_mul(infc_round_up(inputs, bytes ? 4 : 2), taps * 16),
                        bytes ? 128 : 64 / (int64_t)infc_dtype_bytes(type->dtype));
}

static int64_t stored_elements(const infc_type *type) {
    switch (type->layout) {
    case INFC_LAYOUT_c16:
        return type->dims[0] * infc_round_up(type->dims[1], 16) * infc_dims_product(type, 2, type->rank);
    case INFC_LAYOUT_ipanel:
    case INFC_LAYOUT_qpanel: {
        int64_t outputs = type->rank == 4 ? type->dims[0] : type->dims[type->rank - 1];
        int64_t matrices = type->rank == 3 ? type->dims[0] : 1;
        return matrices * infc_ipanel_elements(type) * ((outputs + 15) / 16);
    }
    case INFC_LAYOUT_panel: {
        int64_t outputs = type->rank == 4 ? type->dims[0] : type->dims[type->rank - 1];
        int64_t matrices = type->rank == 3 ? type->dims[0] : 1;
        return matrices * infc_panel_inner(type) * infc_round_up(outputs, 16);
    }
    default: return infc_type_count(type);
    }
}

uint64_t infc_type_bytes(const infc_type *type) {
    infc_type most = largest(type);
    return (uint64_t)stored_elements(&most) * infc_dtype_bytes(type->dtype);
}

bool infc_shape_equal(const infc_type *a, const infc_type *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return false;
    return true;
}

bool infc_type_equal(const infc_type *a, const infc_type *b) {
    return a->dtype == b->dtype && a->layout == b->layout && infc_shape_equal(a, b);
}

const char *infc_layout_name(infc_layout layout) {
    switch (layout) {
    case INFC_LAYOUT_plain: return "plain";
    case INFC_LAYOUT_c16: return "c16";
    case INFC_LAYOUT_panel: return "panel";
    case INFC_LAYOUT_ipanel: return "ipanel";
    case INFC_LAYOUT_qpanel: return "qpanel";
    }
    return "?";
}

const char *infc_type_text(infc_arena *arena, const infc_type *type) {
    infc_buf buf = {.arena = arena};
    infc_buf_printf(&buf, "%s[", infc_dtype_name(type->dtype));
    for (int i = 0; i < type->rank && i < INFC_MAX_RANK; i++)
        infc_buf_printf(&buf, i ? ",%s" : "%s", infc_dim_text(arena, type->dims[i]));
    infc_buf_puts(&buf, "]");
    if (type->layout != INFC_LAYOUT_plain)
        infc_buf_printf(&buf, "{%s}", infc_layout_name(type->layout));
    return infc_buf_str(&buf);
}

bool infc_type_broadcast(const infc_type *a, const infc_type *b, infc_type *out) {
    infc_type r = {.dtype = a->dtype, .rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 0; i < r.rank; i++) {
        int ia = i - (r.rank - a->rank), ib = i - (r.rank - b->rank);
        int64_t da = ia < 0 ? 1 : a->dims[ia], db = ib < 0 ? 1 : b->dims[ib];
        if (da != db && da != 1 && db != 1) return false;
        r.dims[i] = da == 1 ? db : da;
    }
    *out = r;
    return true;
}

const char *infc_type_no_broadcast(infc_arena *arena, const infc_type *a, const infc_type *b) {
    const char *types =
        infc_arena_printf(arena, "%s and %s", infc_type_text(arena, a), infc_type_text(arena, b));
    for (int i = 1; i <= a->rank && i <= b->rank; i++) {
        const int64_t da = a->dims[a->rank - i], db = b->dims[b->rank - i];
        if (da == db || da == 1 || db == 1) continue;
        const char *hint = infc_dim_open(da) && infc_dim_open(db)
                               ? "; if they are always equal, let one have the other's name: "
                                 "shapes: {A: B} in the spec"
                               : "";
        return infc_arena_printf(
            arena,
            "%s do not broadcast: counted from the last, dimension %d is %s and %s, and would have "
            "to be the same, or 1 in one of them%s%s",
            types, i, infc_dim_text(arena, da), infc_dim_text(arena, db), hint,
            a->rank == b->rank ? "" : "; Unsqueeze puts a dimension of 1 where it is wanted");
    }
    return types;
}
