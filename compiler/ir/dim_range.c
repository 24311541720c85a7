/* dim_range.c - what values a dim can take, and which it takes for given sizes. */
#include "dim_node.h"

#define LIMIT (INT64_C(1) << 61) /* bounds stop here, so that sums of a few do not overflow */
enum { MAX_TRIED = 1 << 14 };

static int64_t clamp(__int128 v) { return v > LIMIT ? LIMIT : v < -LIMIT ? -LIMIT : (int64_t)v; }

static void multiply(int64_t *least, int64_t *most, int64_t low, int64_t high) {
    __int128 corners[] = {(__int128)*least * low, (__int128)*least * high, (__int128)*most * low,
                          (__int128)*most * high};
    __int128 smallest = corners[0], largest = corners[0];
    for (int i = 1; i < 4; i++) {
        if (corners[i] < smallest) smallest = corners[i];
        if (corners[i] > largest) largest = corners[i];
    }
    *least = clamp(smallest);
    *most = clamp(largest);
}

static int64_t floor_of(int64_t a, int64_t by) { return a / by - (a % by < 0); }

/* ---- values --------------------------------------------------------------------------------------- */

static int64_t node_at(const infc_dim_node *node, const int64_t *sizes);

static int64_t atom_at(const infc_dim_atom *atom, const int64_t *sizes) {
    if (atom->size >= 0) return sizes[atom->size] / atom->sizes->items[atom->size].step;
    return floor_of(node_at(infc_dim_node_of(atom->over), sizes), atom->by);
}

/* Wraps around rather than overflow: dims of checked types do neither. */
static int64_t node_at(const infc_dim_node *node, const int64_t *sizes) {
    uint64_t sum = (uint64_t)node->constant;
    for (int i = 0; i < node->n; i++) {
        uint64_t product = (uint64_t)node->terms[i].factor;
        for (int k = 0; k < node->terms[i].n; k++)
            product *= (uint64_t)atom_at(node->terms[i].atoms[k], sizes);
        sum += product;
    }
    return (int64_t)sum;
}

int64_t infc_dim_at(int64_t dim, const int64_t *sizes) {
    return infc_dim_open(dim) ? node_at(infc_dim_node_of(dim), sizes) : dim;
}

/* ---- ranges --------------------------------------------------------------------------------------- */

/* Of one size with not too many values: tries them all, since the bounds of the terms do not know of each other. */
static void try_all(infc_dim_node *node, int size) {
    const infc_size *s = &node->sizes->items[size];
    int64_t sizes[INFC_MAX_SIZES] = {0};
    for (int64_t value = s->min; value <= s->max; value += s->step) {
        sizes[size] = value;
        int64_t at = node_at(node, sizes);
        if (value == s->min || at < node->least) node->least = at;
        if (value == s->min || at > node->most) node->most = at;
    }
}

void infc_dim_node_range(infc_dim_node *node) {
    bool rises = true, floors = false;
    node->least = node->most = clamp(node->constant);
    for (int i = 0; i < node->n; i++) {
        const infc_dim_term *term = &node->terms[i];
        int64_t least = clamp(term->factor), most = least;
        for (int k = 0; k < term->n; k++) {
            multiply(&least, &most, term->atoms[k]->least, term->atoms[k]->most);
            floors |= term->atoms[k]->size < 0;
        }
        rises &= term->factor > 0;
        node->least = clamp((__int128)node->least + least);
        node->most = clamp((__int128)node->most + most);
    }
    bool tight = rises || (node->n == 1 && !floors);
    bool one_size = node->uses && (node->uses & (node->uses - 1)) == 0;
    if (tight || !one_size || node->most == LIMIT || node->least == -LIMIT) return;
    int size = __builtin_ctz(node->uses);
    const infc_size *s = &node->sizes->items[size];
    if ((s->max - s->min) / s->step <= MAX_TRIED) try_all(node, size);
}

int64_t infc_dim_least(int64_t dim) {
    return infc_dim_open(dim) ? infc_dim_node_of(dim)->least : dim;
}

int64_t infc_dim_most(int64_t dim) {
    return infc_dim_open(dim) ? infc_dim_node_of(dim)->most : dim;
}

void infc_sizes_middle(const infc_sizes *sizes, int64_t out[INFC_MAX_SIZES]) {
    for (int i = 0; i < infc_sizes_count(sizes); i++) {
        const infc_size *size = infc_sizes_at(sizes, i);
        int64_t n = (size->max - size->min) / size->step, at = n / 2 < 12 ? n / 2 : 12 + i;
        int64_t value = size->min + at * size->step;
        out[i] = value % 2 == 0 && size->step % 2 == 1 && at < n ? value + size->step : value;
    }
}
