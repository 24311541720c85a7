/* kv.c - the cache of keys and values. kv_store: x [T, (heads + 2 groups) head_dim], positions and slots [T], tables
 * [S, W], kv [N, block bytes], which it writes, rope [positions, rotary], balance [3, groups * head_dim]; it gives q
 * [T, heads * record]. attend: that q, and the cache it was stored with: f32 [T, heads * head_dim]. `heads` is heads,
 * groups, head_dim, rotary; `layer` says which part of a block; see kv_dims.def. */
#include "../op_rules.h"

enum { MAX_HEADS = 1 << 12, MAX_HEAD = 256, MAX_LAYERS = 1 << 10, BLOCK_POSITIONS = 32 };

typedef struct heads {
    int64_t heads, groups, dim, rotary, format, part, query;
} heads;

static heads heads_of(const infc_op_desc *desc) {
    const int64_t *h = infc_desc_attr(desc, "heads")->ints;
    const int64_t format = infc_desc_int(desc, "format");
    return (heads){h[0],
                   h[1],
                   h[2],
                   h[3],
                   format,
                   infk_kv_part_bytes((ptrdiff_t)h[2], (ptrdiff_t)format),
                   infk_kv_query_bytes((ptrdiff_t)h[2], (ptrdiff_t)format)};
}

static const char *check_attrs(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_ints(arena, desc, "heads", 4, 0, MAX_HEADS);
    if (!wrong) wrong = infc_want_int(arena, desc, "scale", 0, UINT32_MAX);
    if (!wrong) wrong = infc_want_int(arena, desc, "window", 0, INT32_MAX);
    if (!wrong) wrong = infc_want_int(arena, desc, "format", 0, 1);
    if (!wrong) wrong = infc_want_int(arena, desc, "layer", 0, MAX_LAYERS);
    if (wrong) return wrong;
    const int64_t *h = infc_desc_attr(desc, "heads")->ints;
    if (h[0] < 1 || h[1] < 1 || h[0] % h[1])
        return infc_arena_printf(arena, "%lld heads of q are not shared by %lld of k evenly",
                                 (long long)h[0], (long long)h[1]);
    if (h[2] < 16 || h[2] > MAX_HEAD || h[2] % 16)
        return infc_arena_printf(arena, "a head has %lld elements; a multiple of 16, at most %d, is supported",
                                 (long long)h[2], MAX_HEAD);
    if (h[3] > h[2] || h[3] % 2)
        return infc_arena_printf(arena, "%lld elements of a head cannot turn in pairs", (long long)h[3]);
    return NULL;
}

/* Operand i is dtype[first, second]; 0: any. One dimension when second is below 0. */
static const char *want(infc_arena *arena, const infc_op_desc *desc, int i, infc_dtype dtype,
                        int64_t first, int64_t second) {
    const infc_type *x = &desc->in[i];
    const char *wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    bool right = x->dtype == dtype && x->rank == (second < 0 ? 1 : 2) &&
                 (first == 0 || x->dims[0] == first) && (second <= 0 || x->dims[1] == second);
    return right ? NULL
                 : infc_arena_printf(arena, "operand %d, %s, does not fit the others", i,
                                     infc_type_text(arena, x));
}

static const char *check_cache(infc_arena *arena, const infc_op_desc *desc, const heads *h) {
    const int64_t rows = desc->in[0].dims[0];
    const char *wrong = want(arena, desc, 1, INFC_DTYPE_i32, rows, -1);
    if (!wrong) wrong = want(arena, desc, 2, INFC_DTYPE_i32, rows, -1);
    if (!wrong) wrong = want(arena, desc, 3, INFC_DTYPE_i32, 0, 0);
    if (!wrong) wrong = want(arena, desc, 4, INFC_DTYPE_i8, 0, 0);
    if (wrong) return wrong;
    const int64_t block = desc->in[4].dims[1], layer = infc_desc_int(desc, "layer");
    if (infc_dim_open(desc->in[3].dims[1]) || infc_dim_open(block) || block % INFC_ALIGN)
        return "tables and blocks need a fixed size, of blocks a multiple of 64 bytes";
    if ((layer + 1) * h->groups * h->part > block)
        return infc_arena_printf(arena, "a block of %lld bytes has no layer %lld", (long long)block,
                                 (long long)layer);
    return NULL;
}

const char *infc_shape_kv_store(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (wrong) return wrong;
    const heads h = heads_of(desc);
    wrong = want(arena, desc, 0, INFC_DTYPE_f32, 0, (h.heads + 2 * h.groups) * h.dim);
    if (!wrong) wrong = check_cache(arena, desc, &h);
    if (!wrong && h.rotary)
        wrong = want(arena, desc, 5, INFC_DTYPE_f32, desc->in[3].dims[1] * BLOCK_POSITIONS, h.rotary);
    if (!wrong) wrong = want(arena, desc, 6, INFC_DTYPE_f32, 3, h.groups * h.dim);
    if (wrong) return wrong;
    infc_type r = {.dtype = INFC_DTYPE_i8, .rank = 2, .dims = {desc->in[0].dims[0], h.heads * h.query}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

const char *infc_shape_attend(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (wrong) return wrong;
    const heads h = heads_of(desc);
    wrong = want(arena, desc, 0, INFC_DTYPE_i8, 0, h.heads * h.query);
    if (!wrong) wrong = check_cache(arena, desc, &h);
    if (wrong) return wrong;
    infc_type r = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {desc->in[0].dims[0], h.heads * h.dim}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_kv(const infc_op_desc *desc, infc_kernel_call *out) {
    const heads h = heads_of(desc);
    const bool stores = desc->kind == INFC_OP_kv_store;
    *out = (infc_kernel_call){.kind = stores ? INFK_kv_store : INFK_attend,
                              .types = {stores ? "f32" : "i8", "i32", stores ? "i8" : "f32"}};
    out->dims.kv = (infk_kv_dims){
        .rows = (ptrdiff_t)desc->in[0].dims[0],
        .heads = (ptrdiff_t)h.heads,
        .groups = (ptrdiff_t)h.groups,
        .head_dim = (ptrdiff_t)h.dim,
        .rotary = (ptrdiff_t)h.rotary,
        .scale = (ptrdiff_t)infc_desc_int(desc, "scale"),
        .window = (ptrdiff_t)infc_desc_int(desc, "window"),
        .format = (ptrdiff_t)h.format,
        .width = (ptrdiff_t)desc->in[3].dims[1],
        .block_bytes = (ptrdiff_t)desc->in[4].dims[1],
        .part_at = (ptrdiff_t)(infc_desc_int(desc, "layer") * h.groups * h.part),
        .part_bytes = (ptrdiff_t)h.part,
        .query_bytes = (ptrdiff_t)h.query,
    };
}
