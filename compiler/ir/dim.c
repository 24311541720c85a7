/* dim.c - sizes, and arithmetic on expressions in canonical form: terms and atoms are in order, like terms are
 * merged, floors are reduced as far as they go. */
#include "dim_node.h"
#include <string.h>

typedef struct sum { /* an expression being made */
    infc_sizes *sizes;
    bool bad;
    int64_t constant;
    int n;
    infc_dim_term terms[INFC_DIM_MAX_TERMS];
} sum;

/* ---- order ---------------------------------------------------------------------------------------- */

static int compare_terms(const infc_dim_term *a, const infc_dim_term *b);

static int compare_nodes(const infc_dim_node *a, const infc_dim_node *b) {
    for (int i = 0; i < a->n && i < b->n; i++) {
        int order = compare_terms(&a->terms[i], &b->terms[i]);
        if (order) return order;
        if (a->terms[i].factor != b->terms[i].factor)
            return a->terms[i].factor < b->terms[i].factor ? -1 : 1;
    }
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    return a->constant < b->constant ? -1 : a->constant > b->constant;
}

/* Sizes before floors. */
static int compare_atoms(const infc_dim_atom *a, const infc_dim_atom *b) {
    if (a == b) return 0;
    if (a->size >= 0 && b->size >= 0) return a->size - b->size;
    if (a->size >= 0 || b->size >= 0) return a->size >= 0 ? -1 : 1;
    if (a->by != b->by) return a->by < b->by ? -1 : 1;
    return compare_nodes(infc_dim_node_of(a->over), infc_dim_node_of(b->over));
}

/* Factors aside. Larger products first. */
static int compare_terms(const infc_dim_term *a, const infc_dim_term *b) {
    for (int i = 0; i < a->n && i < b->n; i++) {
        int order = compare_atoms(a->atoms[i], b->atoms[i]);
        if (order) return order;
    }
    return b->n - a->n;
}

/* ---- sums ----------------------------------------------------------------------------------------- */

static void sum_constant(sum *s, int64_t value) {
    if (__builtin_add_overflow(s->constant, value, &s->constant)) s->bad = true;
}

static void sum_term(sum *s, const infc_dim_term *term) {
    int i = 0;
    if (term->factor == 0) return;
    while (i < s->n && compare_terms(&s->terms[i], term) < 0) i++;
    if (i < s->n && compare_terms(&s->terms[i], term) == 0) {
        if (__builtin_add_overflow(s->terms[i].factor, term->factor, &s->terms[i].factor))
            s->bad = true;
        if (s->terms[i].factor != 0) return;
        s->n--;
        memmove(&s->terms[i], &s->terms[i + 1], (size_t)(s->n - i) * sizeof *term);
        return;
    }
    if (s->n == INFC_DIM_MAX_TERMS) {
        s->bad = true;
        return;
    }
    memmove(&s->terms[i + 1], &s->terms[i], (size_t)(s->n - i) * sizeof *term);
    s->terms[i] = *term;
    s->n++;
}

static void sum_scaled(sum *s, int64_t dim, int64_t factor) {
    int64_t part;
    if (dim == INFC_DIM_BAD) s->bad = true;
    if (!infc_dim_open(dim)) {
        if (__builtin_mul_overflow(dim, factor, &part)) s->bad = true;
        else sum_constant(s, part);
        return;
    }
    const infc_dim_node *node = infc_dim_node_of(dim);
    s->sizes = node->sizes;
    if (__builtin_mul_overflow(node->constant, factor, &part)) s->bad = true;
    else sum_constant(s, part);
    for (int i = 0; i < node->n; i++) {
        infc_dim_term term = node->terms[i];
        if (__builtin_mul_overflow(term.factor, factor, &term.factor)) s->bad = true;
        else sum_term(s, &term);
    }
}

static int64_t intern(infc_dim_node *node) {
    infc_sizes *sizes = node->sizes;
    size_t known;
    int64_t dim = INT64_MIN + (int64_t)(uintptr_t)node;
    const char *text = infc_dim_text(sizes->arena, dim);
    if (infc_map_find(&sizes->nodes, text, &known)) return INT64_MIN + (int64_t)known;
    infc_map_put(&sizes->nodes, text, (size_t)(uintptr_t)node);
    return dim;
}

static int64_t finish(const sum *s) {
    if (s->bad) return INFC_DIM_BAD;
    if (s->n == 0) return s->constant;
    infc_dim_node *node = infc_arena_alloc(
        s->sizes->arena, sizeof *node + (size_t)s->n * sizeof *node->terms, _Alignof(infc_dim_node));
    node->sizes = s->sizes;
    node->constant = s->constant;
    node->n = s->n;
    for (int i = 0; i < s->n; i++) {
        node->terms[i] = s->terms[i];
        for (int k = 0; k < s->terms[i].n; k++) {
            const infc_dim_atom *atom = s->terms[i].atoms[k];
            node->uses |= atom->uses;
            if (atom->depth > node->depth) node->depth = atom->depth;
        }
    }
    infc_dim_node_range(node);
    if (node->least == node->most) return node->least;
    return intern(node);
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

infc_sizes *infc_sizes_create(infc_arena *arena) {
    infc_sizes *sizes = INFC_NEW(arena, infc_sizes, 1);
    sizes->arena = sizes->nodes.arena = arena;
    return sizes;
}

static int64_t of_atom(infc_sizes *sizes, const infc_dim_atom *atom, int64_t factor) {
    sum s = {.sizes = sizes, .n = 1, .terms[0] = {.factor = factor, .n = 1, .atoms = {atom}}};
    return finish(&s);
}

int64_t infc_sizes_add(infc_sizes *sizes, infc_size size) {
    infc_dim_atom *atom = INFC_NEW(sizes->arena, infc_dim_atom, 1);
    int i = sizes->n++;
    sizes->items[i] = size;
    *atom = (infc_dim_atom){
        .sizes = sizes, .size = i, .uses = 1u << i, .least = size.min / size.step, .most = size.max / size.step};
    return sizes->dims[i] = of_atom(sizes, atom, size.step);
}

int infc_sizes_count(const infc_sizes *sizes) { return sizes ? sizes->n : 0; }

const infc_size *infc_sizes_at(const infc_sizes *sizes, int i) { return &sizes->items[i]; }

int64_t infc_sizes_dim(const infc_sizes *sizes, int i) { return sizes->dims[i]; }

int infc_sizes_find(const infc_sizes *sizes, const char *name) {
    for (int i = 0; i < infc_sizes_count(sizes); i++)
        if (strcmp(sizes->items[i].name, name) == 0) return i;
    return -1;
}

bool infc_sizes_is(const infc_sizes *sizes, int i, int64_t dim) { return sizes->dims[i] == dim; }

/* ---- arithmetic ----------------------------------------------------------------------------------- */

static bool are_numbers(int64_t a, int64_t b) {
    return !infc_dim_open(a) && !infc_dim_open(b) && a != INFC_DIM_BAD && b != INFC_DIM_BAD;
}

int64_t infc_dim_add(int64_t a, int64_t b) {
    if (are_numbers(a, b)) return __builtin_add_overflow(a, b, &a) ? INFC_DIM_BAD : a;
    sum s = {.n = 0};
    sum_scaled(&s, a, 1);
    sum_scaled(&s, b, 1);
    return finish(&s);
}

int64_t infc_dim_sub(int64_t a, int64_t b) {
    if (are_numbers(a, b)) return __builtin_sub_overflow(a, b, &a) ? INFC_DIM_BAD : a;
    sum s = {.n = 0};
    sum_scaled(&s, a, 1);
    sum_scaled(&s, b, -1);
    return finish(&s);
}

static bool product(const infc_dim_term *a, const infc_dim_term *b, infc_dim_term *out) {
    *out = (infc_dim_term){.n = a->n + b->n};
    if (__builtin_mul_overflow(a->factor, b->factor, &out->factor) || out->n > INFC_DIM_MAX_ATOMS)
        return false;
    for (int i = 0, k = 0; i + k < out->n;) {
        bool first = k == b->n || (i < a->n && compare_atoms(a->atoms[i], b->atoms[k]) <= 0);
        out->atoms[i + k] = first ? a->atoms[i] : b->atoms[k];
        if (first) i++;
        else k++;
    }
    return true;
}

int64_t infc_dim_mul(int64_t a, int64_t b) {
    if (are_numbers(a, b)) return __builtin_mul_overflow(a, b, &a) ? INFC_DIM_BAD : a;
    sum s = {.n = 0};
    if (infc_dim_open(a) && infc_dim_open(b)) {
        const infc_dim_node *x = infc_dim_node_of(a), *y = infc_dim_node_of(b);
        sum_scaled(&s, a, y->constant);
        sum_scaled(&s, b, x->constant);
        int64_t twice;
        if (__builtin_mul_overflow(x->constant, y->constant, &twice)) s.bad = true;
        else sum_constant(&s, -twice);
        for (int i = 0; i < x->n; i++)
            for (int k = 0; k < y->n; k++) {
                infc_dim_term term;
                if (product(&x->terms[i], &y->terms[k], &term)) sum_term(&s, &term);
                else s.bad = true;
            }
        return finish(&s);
    }
    if (a == INFC_DIM_BAD || b == INFC_DIM_BAD) return INFC_DIM_BAD;
    if (infc_dim_open(a)) sum_scaled(&s, a, b);
    else sum_scaled(&s, b, a);
    return finish(&s);
}

static int64_t floor_number(int64_t a, int64_t by) { return a / by - (a % by < 0); }

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* floor(rest / by), where no factor of the rest is a multiple of `by` and all are between. */
static int64_t floor_rest(const sum *rest, int64_t by) {
    const infc_dim_atom *only = rest->n == 1 && rest->terms[0].n == 1 ? rest->terms[0].atoms[0] : NULL;
    int64_t common = by, dim, deeper;
    for (int i = 0; i < rest->n; i++) common = gcd(common, rest->terms[i].factor);
    if (common > 1) {
        sum less = *rest;
        for (int i = 0; i < less.n; i++) less.terms[i].factor /= common;
        less.constant = floor_number(less.constant, common);
        return infc_dim_floor(finish(&less), by / common);
    }
    if (only && only->size < 0 && rest->terms[0].factor == 1 &&
        !__builtin_mul_overflow(rest->constant, only->by, &dim) &&
        !__builtin_mul_overflow(only->by, by, &deeper))
        return infc_dim_floor(infc_dim_add(only->over, dim), deeper);
    dim = finish(rest);
    if (!infc_dim_open(dim)) return dim == INFC_DIM_BAD ? dim : floor_number(dim, by);
    int64_t least = floor_number(infc_dim_least(dim), by), most = floor_number(infc_dim_most(dim), by);
    if (least == most) return least;
    const infc_dim_node *node = infc_dim_node_of(dim);
    if (node->depth >= INFC_DIM_MAX_DEPTH) return INFC_DIM_BAD;
    infc_dim_atom *atom = INFC_NEW(node->sizes->arena, infc_dim_atom, 1);
    *atom = (infc_dim_atom){node->sizes, -1, dim, by, node->depth + 1, node->uses, least, most};
    return of_atom(node->sizes, atom, 1);
}

int64_t infc_dim_floor(int64_t a, int64_t by) {
    if (a == INFC_DIM_BAD || by == 1) return a;
    if (!infc_dim_open(a)) return floor_number(a, by);
    const infc_dim_node *node = infc_dim_node_of(a);
    sum whole = {.sizes = node->sizes}, rest = {.sizes = node->sizes};
    whole.constant = floor_number(node->constant, by);
    rest.constant = node->constant - whole.constant * by;
    for (int i = 0; i < node->n; i++) {
        infc_dim_term term = node->terms[i];
        int64_t factor = term.factor;
        term.factor = floor_number(factor, by);
        sum_term(&whole, &term);
        term.factor = factor - term.factor * by;
        sum_term(&rest, &term);
    }
    if (rest.n > 0) sum_scaled(&whole, floor_rest(&rest, by), 1);
    return finish(&whole);
}

/* a / b for single terms: every atom of b is one of a's. */
static bool share_term(const infc_dim_term *a, const infc_dim_term *b, infc_dim_term *out) {
    int k = 0;
    *out = (infc_dim_term){.factor = a->factor / b->factor};
    if (a->factor % b->factor != 0) return false;
    for (int i = 0; i < a->n; i++) {
        if (k < b->n && a->atoms[i] == b->atoms[k]) k++;
        else out->atoms[out->n++] = a->atoms[i];
    }
    return k == b->n;
}

/* Long division by the first term; what is left over must be nothing. */
bool infc_dim_share(int64_t a, int64_t b, int64_t *out) {
    if (a == INFC_DIM_BAD || b == INFC_DIM_BAD || b == 0) return false;
    if (!infc_dim_open(b)) {
        int64_t rest;
        *out = b < 0 ? INFC_DIM_BAD : infc_dim_floor(a, b);
        rest = infc_dim_sub(a, infc_dim_mul(*out, b));
        return rest == 0;
    }
    if (!infc_dim_open(a)) return *out = 0, a == 0;
    const infc_dim_node *divisor = infc_dim_node_of(b);
    int64_t left = a, quotient = 0;
    for (int steps = 0; steps < INFC_DIM_MAX_TERMS && infc_dim_open(left); steps++) {
        sum part = {.sizes = divisor->sizes};
        infc_dim_term term;
        if (!share_term(&infc_dim_node_of(left)->terms[0], &divisor->terms[0], &term)) return false;
        if (term.n) sum_term(&part, &term);
        else part.constant = term.factor;
        int64_t piece = finish(&part);
        quotient = infc_dim_add(quotient, piece);
        left = infc_dim_sub(left, infc_dim_mul(piece, b));
    }
    *out = quotient;
    return left == 0;
}

bool infc_dim_multiple(int64_t dim, int64_t of) {
    int64_t share;
    return infc_dim_share(dim, of, &share);
}
