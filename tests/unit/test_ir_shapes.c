/* The shape rules: shapes as ONNX Runtime and onnx.shape_inference give them (conv, pool, matmul, broadcast; random
 * parameters), others by hand; what must be refused, and with which words; and any values at all. */
#include "compiler/ir/op_rules.h"
#include "desc_text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct row {
    infc_op_kind kind;
    const char *operands, *attrs;
    const char *want; /* the type; or, with a leading "!", part of the complaint */
} row;

#define ONE "strides=1,1 dilations=1,1 pads=0,0,0,0"
#define POOL ONE " kernel=2,2"
static const row rows[] = {
#define SHAPE(op, operands, attrs, want) {INFC_OP_##op, operands, attrs, want},
#include "ir_shapes.def"
#undef SHAPE
};

static int setup(void **state) {
    *state = infc_arena_create();
    return *state == NULL;
}
static int teardown(void **state) {
    infc_arena *arena = *state;
    infc_arena_destroy(&arena);
    return 0;
}

static void test_rows(void **state) {
    infc_arena *arena = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        infc_op_desc desc = desc_of(arena, r->kind, r->operands, r->attrs);
        infc_type out;
        const char *wrong = infc_op_get(r->kind)->shape(arena, &desc, &out);
        const char *got = wrong ? wrong : infc_type_text(arena, &out);
        bool ok = r->want[0] == '!' ? wrong && strstr(wrong, r->want + 1)
                                    : !wrong && strcmp(got, r->want) == 0;
        if (!ok)
            fail_msg("%s %s {%s}: \"%s\", not \"%s\"", infc_op_get(r->kind)->name, r->operands,
                     r->attrs, got, r->want);
    }
}

/* Over sizes h: 32..960 by 32 and t: 1..128, written 1001 and 1002. */
static const row open_rows[] = {
    {INFC_OP_conv, "f32[1,3,1001,1001] f32[16,3,3,3]",
     "strides=2,2 pads=1,1,1,1 dilations=1,1 groups:1", "f32[1,16,16*(h/32),16*(h/32)]"},
    {INFC_OP_conv, "f32[1,3,1001,1002] f32[16,3,3,3]",
     "strides=1,1 pads=0,0,0,0 dilations=1,1 groups:1", "!at its smallest"},
    {INFC_OP_pool_max, "f32[1,8,1001,1002]", "kernel=1001,1002 strides=1,1 pads=0,0,0,0 dilations=1,1", "f32[1,8,1,1]"},
    {INFC_OP_concat2, "f32[1,1002,4] f32[1,1002,4]", "axis:1", "f32[1,2*t,4]"},
    {INFC_OP_concat2, "f32[1,1002,4] f32[1,1001,4]", "axis:2", "!do not join"},
    {INFC_OP_expand, "f32[1,4]", "shape=1002,4", "f32[t,4]"},
    {INFC_OP_gather, "f32[10,4] i64[1,1002]", "axis:0", "f32[1,t,4]"},
    {INFC_OP_slice, "f32[1002,4]", "starts=0,0 steps=1,1 shape=1002,2", "f32[t,2]"},
    {INFC_OP_slice, "f32[1002,4]", "starts=0,0 steps=1,1 shape=2,2", "!do not lie"},
    {INFC_OP_slice, "i64[129]", "starts=1002 steps=1 shape=1", "i64[1]"},
    {INFC_OP_slice, "i64[128]", "starts=1002 steps=1 shape=1", "!do not lie"},
    {INFC_OP_pad, "f32[1,1002]", "before=0,1 after=0,2 mode~constant fill:0", "f32[1,t + 3]"},
    {INFC_OP_pad, "f32[1,1002]", "before=0,1 after=0,0 mode~reflect fill:0", "!from itself"},
    {INFC_OP_resize, "f32[1,2,1001,1001]", "size=1001,1001 half=1,1 num=1,1 den=-1,-2 pick=0,0", "f32[1,2,h,h]"},
};

static void put_sizes(int64_t *dims, int n, int64_t h, int64_t t) {
    for (int i = 0; i < n; i++) dims[i] = dims[i] == 1001 ? h : dims[i] == 1002 ? t : dims[i];
}

static void test_open_rows(void **state) {
    infc_arena *arena = *state;
    infc_sizes *sizes = infc_sizes_create(arena);
    const int64_t h = infc_sizes_add(sizes, (infc_size){"h", 32, 960, 32}),
                  t = infc_sizes_add(sizes, (infc_size){"t", 1, 128, 1});
    for (size_t i = 0; i < sizeof open_rows / sizeof *open_rows; i++) {
        const row *r = &open_rows[i];
        infc_op_desc desc = desc_of(arena, r->kind, r->operands, r->attrs);
        infc_type out;
        for (int k = 0; k < desc.n_in; k++) put_sizes(desc.in[k].dims, desc.in[k].rank, h, t);
        for (int k = 0; k < desc.n_attrs; k++)
            put_sizes(desc.attrs[k].ints, desc.attrs[k].n_ints, h, t);
        const char *wrong = infc_op_get(r->kind)->shape(arena, &desc, &out);
        const char *got = wrong ? wrong : infc_type_text(arena, &out);
        if (r->want[0] == '!' ? !wrong || !strstr(wrong, r->want + 1) : strcmp(got, r->want) != 0)
            fail_msg("%s %s {%s}: \"%s\", not \"%s\"", infc_op_get(r->kind)->name, r->operands,
                     r->attrs, got, r->want);
    }
}

static void test_weight_takes_its_own_type(void **state) {
    infc_op_desc desc = desc_of(*state, INFC_OP_weight, "", "id:0");
    infc_type out;
    desc_type("f32[2,3]", &desc.out);
    assert_null(infc_op_get(INFC_OP_weight)->shape(*state, &desc, &out));
    assert_true(infc_type_equal(&out, &desc.out));
    desc.out.layout = INFC_LAYOUT_panel;
    assert_non_null(infc_op_get(INFC_OP_weight)->shape(*state, &desc, &out));
}

static uint64_t next_random(uint64_t *seed) {
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t any_number(uint64_t *seed) {
    static const int64_t odd[] = {INT64_MIN,
                                  INT64_MIN + 1,
                                  -1,
                                  0,
                                  INT64_C(1) << 20,
                                  INT64_C(1) << 31,
                                  INT64_C(1) << 40,
                                  INT64_C(1) << 62,
                                  INT64_MAX - 1,
                                  INT64_MAX};
    uint64_t r = next_random(seed);
    if (r % 8 == 0) return odd[r / 8 % 10];
    return (int64_t)(r / 8 % 5);
}

static infc_type any_type(uint64_t *seed) {
    infc_type type = {.dtype = INFC_DTYPE_f32, .rank = (int)(next_random(seed) % 9)};
    uint64_t r = next_random(seed);
    if (r % 64 == 0) type.rank = (int)(r >> 40);
    if (r % 16 == 1) type.dtype = (infc_dtype)(r >> 33);
    if (r % 4 == 2) type.rank = 4;
    if (r % 8 == 3) type.layout = (infc_layout)(r >> 8 & 3);
    for (int i = 0; i < INFC_MAX_RANK; i++) type.dims[i] = any_number(seed);
    return type;
}

/* The names of ops.def's attributes, with values of any kind. */
static void any_attrs(uint64_t *seed, infc_op_desc *desc) {
    infc_attr_decl decl;
    static char names[INFC_MAX_ATTRS][24];
    for (const char *list = infc_op_get(desc->kind)->attrs; infc_attr_next(&list, &decl);) {
        uint64_t r = next_random(seed);
        infc_attr *attr = &desc->attrs[desc->n_attrs];
        if (r % 32 == 0) continue;
        memcpy(names[desc->n_attrs], decl.name, sizeof decl.name);
        *attr = (infc_attr){.name = names[desc->n_attrs], .kind = decl.kind, .i = any_number(seed)};
        if (r % 32 == 1) attr->kind = (infc_attr_kind)(r >> 8 & 3);
        attr->n_ints = r % 4 == 2 ? 4 : r % 4 == 3 ? 2 : (int)(r >> 16 & 15) - 2;
        for (int i = 0; i < INFC_MAX_INTS; i++) attr->ints[i] = any_number(seed);
        attr->str = r & 256 ? "add" : r & 512 ? "relu" : NULL;
        attr->layout = (infc_layout)(r >> 20 & 3);
        desc->n_attrs++;
    }
}

/* Whatever comes in, out comes a sentence or a type that can be stored. Run it under UBSan too. */
static void test_any_values(void **state) {
    uint64_t seed = 3;
    infc_arena *arena = *state;
    int accepted = 0;
    for (int i = 0; i < 200000; i++) {
        infc_op_desc desc = {.kind = (infc_op_kind)(next_random(&seed) % INFC_N_OP_KINDS)};
        const infc_op_info *info = infc_op_get(desc.kind);
        desc.n_in = next_random(&seed) % 16 ? info->n_in : (int)(next_random(&seed) % 4);
        for (int k = 0; k < INFC_MAX_OPERANDS; k++) desc.in[k] = any_type(&seed);
        desc.out = any_type(&seed);
        any_attrs(&seed, &desc);
        infc_type out;
        const char *wrong = info->shape(arena, &desc, &out);
        if (!wrong) {
            accepted++;
            assert_null(infc_type_check(arena, &out));
            assert_true(infc_type_bytes(&out) <= UINT64_C(1) << 53);
            infc_kernel_call call;
            desc.out = out;
            if (info->call) info->call(&desc, &call);
        } else {
            assert_true(strlen(wrong) > 4);
        }
        if (i % 1000 == 0) infc_arena_reset(arena);
    }
    assert_true(accepted > 1000);
}

static void test_type_bytes(void **state) {
    static const struct {
        const char *type;
        uint64_t bytes;
    } cases[] = {
        {"f32[2,3]", 24},
        {"f32[]", 4},
        {"bool[5]", 5},
        {"f32[2,17,3,5]{c16}", 2 * 32 * 15 * 4},
        {"f32[2,1]{c16}", 2 * 16 * 4},
        {"f32[17,3,2,2]{panel}", 32 * 12 * 4},
        {"i8[17,3,2,2]{panel}", 32 * 64},
        {"f32[5,33]{panel}", 48 * 5 * 4},
        {"i8[3,65,33]{panel}", 3 * 48 * 128},
        {"f32[0,7]", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infc_type type;
        desc_type(cases[i].type, &type);
        assert_int_equal(infc_type_bytes(&type), cases[i].bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_weight_takes_its_own_type, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any_values, setup, teardown),
        cmocka_unit_test(test_type_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
