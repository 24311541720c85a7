/* dim.h - extents that are known only at run time.
 *
 * A model may have sizes: named numbers within bounds, each read from an axis of an input (`tokens`, 1 to 128). A
 * dim is an int64_t wherever shapes are kept: the number itself, or, when infc_dim_open, an expression over the
 * sizes. Expressions are canonical and shared, so that two dims are provably the same when they are ==, and a dim that
 * comes out as a number is that number. They are sums of products of sizes and of floor(expression / number).
 *
 * What cannot be computed (an overflow, or an expression that grows beyond all measure) is INFC_DIM_BAD, which no
 * type may have. Arithmetic with C operators is for numbers only. */
#ifndef INFC_DIM_H
#define INFC_DIM_H
#include "../base/cx.h"

enum { INFC_MAX_SIZES = 16 };
#define INFC_DIM_BAD INT64_MAX

typedef struct infc_size {
    const char *name;       /* an identifier, dots allowed */
    int64_t min, max, step; /* 1 <= min < max <= 2^40, both multiples of step */
} infc_size;

/* The sizes of a model and the expressions over them. */
typedef struct infc_sizes infc_sizes;
infc_sizes *infc_sizes_create(infc_arena *arena);
/* The dim that is a new size. The caller has checked that there is room and that the name is new. */
int64_t infc_sizes_add(infc_sizes *sizes, infc_size size);
int infc_sizes_count(const infc_sizes *sizes);
const infc_size *infc_sizes_at(const infc_sizes *sizes, int i);
int64_t infc_sizes_dim(const infc_sizes *sizes, int i);
/* One choice of sizes: neither end, and odd where it can be. Of the self-check. */
void infc_sizes_middle(const infc_sizes *sizes, int64_t out[INFC_MAX_SIZES]);
int infc_sizes_find(const infc_sizes *sizes, const char *name); /* index, or -1 */
/* Whether `dim` is size i itself. */
bool infc_sizes_is(const infc_sizes *sizes, int i, int64_t dim);
/* "tokens: 1..128", "height: 32..960 by 32"; and back. False when it is not one. */
const char *infc_size_text(infc_arena *arena, const infc_size *size);
bool infc_size_parse(infc_arena *arena, const char *text, infc_size *out);

/* An expression is its address above INT64_MIN: the first and last numbers of that range are never open. */
static inline bool infc_dim_open(int64_t dim) {
    return dim > INT64_MIN + 4096 && dim < INT64_MIN + (INT64_C(1) << 48);
}
/* For numbers from files and users, which could be anything: kept out of the range of expressions. */
static inline int64_t infc_dim_number(int64_t value) {
    return infc_dim_open(value) ? INT64_MIN + (INT64_C(1) << 48) : value;
}
int64_t infc_dim_add(int64_t a, int64_t b);
int64_t infc_dim_sub(int64_t a, int64_t b);
int64_t infc_dim_mul(int64_t a, int64_t b);
int64_t infc_dim_floor(int64_t a, int64_t by);                 /* floor(a / by); by >= 1 */
static inline int64_t infc_dim_blocks(int64_t a, int64_t by) { /* ceil(a / by) */
    return infc_dim_floor(infc_dim_add(a, by - 1), by);
}
bool infc_dim_multiple(int64_t dim, int64_t of); /* for all sizes */
/* a / b when that is the same dim for all sizes. */
bool infc_dim_share(int64_t a, int64_t b, int64_t *out);
/* Bounds over all sizes. They hold; for differences of several sizes they may be wider than need be. */
int64_t infc_dim_least(int64_t dim);
int64_t infc_dim_most(int64_t dim);
/* The number for given sizes, one each. */
int64_t infc_dim_at(int64_t dim, const int64_t *sizes);
/* 2*tokens + 1: what infc_dim_parse reads back. */
const char *infc_dim_text(infc_arena *arena, int64_t dim);
/* Names of sizes, numbers, + - * and / (rounding down, by a number), parentheses. False when it is not that. */
bool infc_dim_parse(infc_sizes *sizes, const char *text, int64_t *out);
/* The same where names are others': `find` gives the dim that the n letters at `name` stand for, or false. */
typedef bool infc_dim_find(void *user, const char *name, size_t n, int64_t *out);
bool infc_dim_parse_names(infc_dim_find *find, void *user, const char *text, int64_t *out);
/* As a C expression of int64_t, where `names` are those of the sizes divided by their steps. */
const char *infc_dim_c(infc_arena *arena, int64_t dim, const char *const *names);

#endif
