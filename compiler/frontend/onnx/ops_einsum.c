/* Einsum as sums, products and transposes, two operands at a time from left to right. */
#include "ops_part.h"
#include <string.h>

enum {
    LABELS = 128,
    ELLIPSIS = 1,
    MAX_TERMS = 16
}; /* dims of "..." are ELLIPSIS + their place from the right */

typedef struct term { /* an operand, each axis with its label */
    infc_onnx_operand x;
    int labels[INFC_MAX_RANK];
} term;

typedef struct sums {
    int n;
    term terms[MAX_TERMS];
    int64_t dims[LABELS]; /* of each label; 0: not seen */
    int result[INFC_MAX_RANK], rank;
    int dots; /* axes of the longest "..." */
} sums;

static bool has_label(const int *labels, int n, int label) {
    for (int i = 0; i < n; i++)
        if (labels[i] == label) return true;
    return false;
}

/* ---- the equation --------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The labels of text[0, n); "..." becomes `dots` of them. */
static infc_status read_labels(infc_onnx_at *at, const char *text, size_t n, int dots, int *out, int *out_n) {
    bool seen = false;
    *out_n = 0;
    for (size_t i = 0; i < n; i++) {
        bool ellipsis = n - i >= 3 && memcmp(text + i, "...", 3) == 0 && !seen;
        if (!ellipsis && !is_letter(text[i]))
            return infc_onnx_invalid(at, "attribute \"equation\" has '%c' in a term", text[i]);
        if (*out_n + (ellipsis ? dots : 1) > INFC_MAX_RANK)
            return infc_onnx_refuse(at, "a term of more than %d dimensions", INFC_MAX_RANK);
        for (int k = 0; ellipsis && k < dots; k++) out[(*out_n)++] = ELLIPSIS + dots - 1 - k;
        if (!ellipsis) out[(*out_n)++] = text[i];
        if (ellipsis) i += 2, seen = true;
    }
    return INFC_OK;
}

static int count_letters(const char *text, size_t n) {
    int letters = 0;
    for (size_t i = 0; i < n; i++) letters += text[i] != '.';
    return letters;
}

static infc_status read_term(infc_onnx_at *at, sums *s, int i, const char *text, size_t n) {
    term *t = &s->terms[i];
    int n_labels;
    INFC_TRY(infc_onnx_input(at, (size_t)i, &t->x));
    int rank = t->x.type.rank, dots = rank - count_letters(text, n);
    bool open = memchr(text, '.', n) != NULL;
    if (dots < 0 || (dots > 0 && !open))
        return infc_onnx_invalid(at, "term %d, \"%.*s\", has %d labels for %d dimensions", i,
                                 (int)n, text, count_letters(text, n), rank);
    INFC_TRY(read_labels(at, text, n, dots, t->labels, &n_labels));
    if (open && dots > s->dots) s->dots = dots;
    for (int k = 0; k < rank; k++) {
        int64_t *dim = &s->dims[t->labels[k]], here = t->x.type.dims[k];
        bool widens = t->labels[k] < ELLIPSIS + INFC_MAX_RANK && (*dim == 1 || here == 1);
        if (*dim && *dim != here && !widens)
            return infc_onnx_invalid(at, "term %d: axis %d is %lld long where another of its label is %lld",
                                     i, k, (long long)here, (long long)*dim);
        if (here > *dim) *dim = here;
    }
    return INFC_OK;
}

/* Without "->": the dims of "...", then the labels that stand once, in order. */
static infc_status implied_result(infc_onnx_at *at, sums *s) {
    for (int k = s->dots; k-- > 0;) s->result[s->rank++] = ELLIPSIS + k;
    for (int label = 'A'; label <= 'z'; label++) {
        int times = 0;
        for (int i = 0; i < s->n; i++)
            for (int k = 0; k < s->terms[i].x.type.rank; k++)
                times += s->terms[i].labels[k] == label;
        if (times != 1) continue;
        if (s->rank == INFC_MAX_RANK)
            return infc_onnx_refuse(at, "a result of more than %d dimensions", INFC_MAX_RANK);
        s->result[s->rank++] = label;
    }
    return INFC_OK;
}

static infc_status read_equation(infc_onnx_at *at, sums *s) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "equation");
    char text[256];
    size_t n = 0;
    if (!attribute) return infc_onnx_invalid(at, "attribute \"equation\" is missing");
    if (attribute->s.len >= sizeof text)
        return infc_onnx_refuse(at, "an equation of %zu characters", attribute->s.len);
    for (size_t i = 0; i < attribute->s.len; i++)
        if (attribute->s.ptr[i] != ' ') text[n++] = (char)attribute->s.ptr[i];
    text[n] = '\0';
    char *arrow = strstr(text, "->"), *from = text;
    size_t left = arrow ? (size_t)(arrow - text) : n;
    for (int i = 0; i < s->n; i++) {
        size_t length = strcspn(from, ",");
        bool more = length < left - (size_t)(from - text);
        if (!more) length = left - (size_t)(from - text);
        if (more != (i + 1 < s->n))
            return infc_onnx_invalid(at, "attribute \"equation\" is \"%s\" for %d inputs", text, s->n);
        INFC_TRY(read_term(at, s, i, from, length));
        from += length + 1;
    }
    if (!arrow) return implied_result(at, s);
    INFC_TRY(read_labels(at, arrow + 2, n - left - 2, s->dots, s->result, &s->rank));
    for (int i = 0; i < s->rank; i++)
        if (!s->dims[s->result[i]] || has_label(s->result, i, s->result[i]))
            return infc_onnx_invalid(
                at,
                "attribute \"equation\" is \"%s\": a label of the result stands twice, "
                "or in no term",
                text);
    return INFC_OK;
}

/* ---- one term ------------------------------------------------------------------------------------------- */

/* Its axes in that order. */
static infc_status reorder(infc_onnx_at *at, term *t, const int *labels) {
    int64_t perm[INFC_MAX_RANK] = {0};
    int rank = t->x.type.rank;
    for (int i = 0; i < rank; i++)
        for (int k = 0; k < rank; k++)
            if (t->labels[k] == labels[i]) perm[i] = k;
    INFC_TRY(infc_onnx_permute(at, &t->x, perm, &t->x));
    memcpy(t->labels, labels, (size_t)rank * sizeof *labels);
    return INFC_OK;
}

/* Axes a < b of one label become one: every (n + 1)th of their n * n elements. */
static infc_status diagonal(infc_onnx_at *at, term *t, int a, int b) {
    int64_t perm[INFC_MAX_RANK], dims[INFC_MAX_RANK], n = t->x.type.dims[a];
    int rank = 0, kept[INFC_MAX_RANK];
    for (int i = 0; i < t->x.type.rank; i++)
        if (i != a && i != b)
            kept[rank] = t->labels[i], dims[rank] = t->x.type.dims[i], perm[rank++] = i;
    perm[rank] = a, perm[rank + 1] = b;
    kept[rank] = t->labels[a], dims[rank] = n * n;
    INFC_TRY(infc_onnx_permute(at, &t->x, perm, &t->x));
    INFC_TRY(infc_onnx_view(at, &t->x, dims, rank + 1, &t->x));
    infc_onnx_part part;
    infc_onnx_part_all(&t->x.type, &part);
    part.steps[rank] = n > 1 ? n + 1 : 1;
    part.shape[rank] = n;
    memcpy(t->labels, kept, sizeof kept);
    return infc_onnx_part_of(at, &t->x, &part, &t->x);
}

/* One axis for each label, none of extent 1 where others are longer. */
static infc_status tidy(infc_onnx_at *at, const sums *s, term *t) {
    for (int b = 1; b < t->x.type.rank; b++)
        for (int a = 0; a < b; a++)
            if (t->labels[a] == t->labels[b]) {
                INFC_TRY(diagonal(at, t, a, b));
                a = b = 0; /* from the start: axes have moved */
                break;
            }
    int rank = 0;
    int64_t dims[INFC_MAX_RANK];
    for (int i = 0; i < t->x.type.rank; i++) {
        if (t->x.type.dims[i] == 1 && s->dims[t->labels[i]] > 1) continue;
        dims[rank] = t->x.type.dims[i];
        t->labels[rank++] = t->labels[i];
    }
    return infc_onnx_view(at, &t->x, dims, rank, &t->x);
}

/* Sums over the labels for which keep[label] is false. */
static infc_status sum_out(infc_onnx_at *at, term *t, const bool keep[LABELS]) {
    int order[INFC_MAX_RANK], n = 0, kept, rank = t->x.type.rank;
    int64_t axes[INFC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        if (keep[t->labels[i]]) order[n++] = t->labels[i];
    kept = n;
    for (int i = 0; i < rank; i++)
        if (!keep[t->labels[i]]) axes[n - kept] = n, order[n++] = t->labels[i];
    if (kept == rank) return INFC_OK;
    INFC_TRY(reorder(at, t, order));
    infc_attr attr = infc_attr_ints("axes", axes, rank - kept);
    INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_sum, &t->x, 1, &attr, 1, &t->x));
    return infc_onnx_view(at, &t->x, t->x.type.dims, kept, &t->x);
}

/* ---- two terms ------------------------------------------------------------------------------------------ */

typedef struct group { /* labels that become one axis of a matrix */
    int n, labels[INFC_MAX_RANK];
} group;

/* Labels of `t` that are (or are not) in `other` and for which keep is `kept`. */
static group pick_labels(const term *t, const term *other, bool shared, const bool keep[LABELS], bool kept) {
    group out = {0};
    for (int i = 0; i < t->x.type.rank; i++)
        if (has_label(other->labels, other->x.type.rank, t->labels[i]) == shared && keep[t->labels[i]] == kept)
            out.labels[out.n++] = t->labels[i];
    return out;
}

static int64_t extent_of(const sums *s, const group *g) {
    int64_t product = 1;
    for (int i = 0; i < g->n; i++) product *= s->dims[g->labels[i]];
    return product;
}

/* Their labels one after the other. */
static void line_up(const group *const groups[3], int *out) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < groups[i]->n; k++) *out++ = groups[i]->labels[k];
}

/* t, which has these labels, with an axis for each group. */
static infc_status matrices(infc_onnx_at *at, const sums *s, term *t, const group *const groups[3]) {
    int order[3 * INFC_MAX_RANK];
    int64_t dims[3];
    line_up(groups, order);
    INFC_TRY(reorder(at, t, order));
    for (int i = 0; i < 3; i++) dims[i] = extent_of(s, groups[i]);
    return infc_onnx_view(at, &t->x, dims, 3, &t->x);
}

/* a becomes the product of both, summed over what neither the result nor a later term has. */
static infc_status multiply(infc_onnx_at *at, const sums *s, term *a, term *b, const bool keep[LABELS]) {
    bool also[LABELS];
    for (int i = 0; i < LABELS; i++) also[i] = keep[i] || has_label(b->labels, b->x.type.rank, i);
    INFC_TRY(sum_out(at, a, also));
    for (int i = 0; i < LABELS; i++) also[i] = keep[i] || has_label(a->labels, a->x.type.rank, i);
    INFC_TRY(sum_out(at, b, also));
    const group batch = pick_labels(a, b, true, keep, true),
                inner = pick_labels(a, b, true, keep, false), rows = pick_labels(a, b, false, keep, true),
                columns = pick_labels(b, a, false, keep, true);
    const group *const left[] = {&batch, &rows, &inner}, *const right[] = {&batch, &inner, &columns},
                       *const product[] = {&batch, &rows, &columns};
    int rank = batch.n + rows.n + columns.n;
    if (rank > INFC_MAX_RANK)
        return infc_onnx_refuse(at, "a product of %d dimensions; at most %d are supported", rank, INFC_MAX_RANK);
    INFC_TRY(matrices(at, s, a, left));
    INFC_TRY(matrices(at, s, b, right));
    infc_onnx_operand pair[] = {a->x, b->x};
    if (inner.n) INFC_TRY(infc_onnx_build(at, INFC_OP_matmul, pair, 2, NULL, 0, &a->x));
    else INFC_TRY(infc_onnx_map(at, "mul", pair, 2, &a->x));
    line_up(product, a->labels);
    int64_t dims[INFC_MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = s->dims[a->labels[i]];
    return infc_onnx_view(at, &a->x, dims, rank, &a->x);
}

infc_status infc_onnx_import_einsum(infc_onnx_at *at) {
    sums *s = INFC_NEW(at->arena, sums, 1);
    bool keep[LABELS];
    s->n = (int)at->node->n_inputs;
    if (s->n > MAX_TERMS)
        return infc_onnx_refuse(at, "%d inputs; at most %d are supported", s->n, MAX_TERMS);
    INFC_TRY(read_equation(at, s));
    for (int i = 0; i < s->n; i++) INFC_TRY(tidy(at, s, &s->terms[i]));
    for (int i = 1; i <= s->n; i++) {
        for (int label = 0; label < LABELS; label++) {
            keep[label] = has_label(s->result, s->rank, label);
            for (int k = i + 1; k < s->n; k++)
                keep[label] |= has_label(s->terms[k].labels, s->terms[k].x.type.rank, label);
        }
        if (i < s->n) INFC_TRY(multiply(at, s, &s->terms[0], &s->terms[i], keep));
    }
    term *t = &s->terms[0];
    INFC_TRY(sum_out(at, t, keep));
    if (t->x.type.rank != s->rank)
        return infc_onnx_refuse(at, "a result with repeated dimensions is not supported");
    INFC_TRY(reorder(at, t, s->result));
    return infc_onnx_output(at, 0, &t->x);
}
