/* Parts of a tensor: Slice, Split, Gather. */
#include "ops_index.h"
#include "ops_part.h"
#include <string.h>

void infc_onnx_part_all(const infc_type *type, infc_onnx_part *out) {
    *out = (infc_onnx_part){.rank = type->rank};
    for (int i = 0; i < type->rank; i++) {
        out->steps[i] = 1;
        out->shape[i] = type->dims[i];
    }
}

infc_status infc_onnx_part_of(infc_onnx_at *at, const infc_onnx_operand *x,
                              const infc_onnx_part *part, infc_onnx_operand *out) {
    infc_onnx_operand from = *x;
    bool whole = true;
    for (int i = 0; i < part->rank; i++)
        whole = whole && part->steps[i] == 1 && part->shape[i] == from.type.dims[i];
    *out = from;
    if (whole) return INFC_OK;
    infc_attr attrs[] = {infc_attr_ints("starts", part->starts, part->rank),
                         infc_attr_ints("steps", part->steps, part->rank),
                         infc_attr_ints("shape", part->shape, part->rank)};
    return infc_onnx_build(at, INFC_OP_slice, &from, 1, attrs, 3, out);
}

/* ---- Slice -------------------------------------------------------------------------------------------- */

/* A list of Slice: attribute `name`, or input i; *n is 0 when there is neither. */
static infc_status read_list(infc_onnx_at *at, const char *name, size_t i, int64_t *out, int *n) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    *n = 0;
    if (infc_onnx_has(at, i)) return infc_onnx_input_ints(at, i, out, INFC_MAX_RANK, n);
    if (!attribute) return INFC_OK;
    if (attribute->n_ints > INFC_MAX_RANK)
        return infc_onnx_invalid(at, "attribute \"%s\" has %zu numbers", name, attribute->n_ints);
    *n = (int)attribute->n_ints;
    for (int k = 0; k < *n; k++) out[k] = attribute->ints[k];
    return INFC_OK;
}

/* The place that `v` means on an axis of `dim` elements, within low..high: false when that is not one expression for
 * all sizes. Negative ones count from the end. */
static bool place_on(int64_t v, int64_t dim, int64_t low, int64_t high, int64_t *out) {
    if (!infc_dim_open(v) && (v < -INFC_MAX_ELEMENTS || v > INFC_MAX_ELEMENTS)) {
        *out = v < 0 ? low : high;
        return true;
    }
    if (infc_dim_least(v) < 0 && infc_dim_most(v) >= 0) return false;
    if (infc_dim_most(v) < 0) v = infc_dim_add(v, dim);
    int64_t above = infc_dim_sub(v, low), below = infc_dim_sub(high, v);
    *out = v;
    if (infc_dim_least(above) >= 0 && infc_dim_least(below) >= 0) return true;
    *out = infc_dim_most(above) <= 0 ? low : high;
    return infc_dim_most(above) <= 0 || infc_dim_most(below) <= 0;
}

/* numpy's x[start:end:step] on an axis of `dim` elements. */
static infc_status cut_axis(infc_onnx_at *at, infc_onnx_part *part, int axis, int64_t dim,
                            int64_t start, int64_t end, int64_t step) {
    bool back = step < 0;
    int64_t from, to;
    if (step > INFC_MAX_ELEMENTS || step < -INFC_MAX_ELEMENTS)
        step = back ? -INFC_MAX_ELEMENTS : INFC_MAX_ELEMENTS;
    bool known = place_on(start, dim, 0, back ? infc_dim_sub(dim, 1) : dim, &from) &&
                 place_on(end, dim, back ? -1 : 0, dim, &to);
    int64_t room = !known ? 0 : back ? infc_dim_sub(from, to) : infc_dim_sub(to, from);
    known = known && (infc_dim_least(room) > 0 || infc_dim_most(room) <= 0);
    if (!known)
        return infc_onnx_refuse(
            at,
            "elements %s to %s of axis %d, %s long: which those are is not one expression for "
            "all sizes, or for some sizes there are none; raise the lower bounds in shapes",
            infc_dim_text(at->arena, start), infc_dim_text(at->arena, end), axis,
            infc_dim_text(at->arena, dim));
    part->shape[axis] = infc_dim_most(room) <= 0 ? 0 : infc_dim_blocks(room, back ? -step : step);
    part->starts[axis] = part->shape[axis] == 0 ? 0 : from;
    part->steps[axis] = part->shape[axis] == 0 || part->shape[axis] == 1 ? 1 : step;
    return INFC_OK;
}

infc_status infc_onnx_import_slice(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    int64_t starts[INFC_MAX_RANK], ends[INFC_MAX_RANK], axes[INFC_MAX_RANK], steps[INFC_MAX_RANK];
    int n, n_ends, n_axes, n_steps;
    bool seen[INFC_MAX_RANK] = {0};
    if (at->opset < 10 && (!infc_onnx_attr(at, "starts") || !infc_onnx_attr(at, "ends")))
        return infc_onnx_invalid(at, "attributes \"starts\" and \"ends\" are needed");
    INFC_TRY(read_list(at, "starts", 1, starts, &n));
    INFC_TRY(read_list(at, "ends", 2, ends, &n_ends));
    INFC_TRY(read_list(at, "axes", 3, axes, &n_axes));
    INFC_TRY(read_list(at, "steps", 4, steps, &n_steps));
    for (size_t i = 2; i < 5; i++)
        if (infc_onnx_has(at, i) && infc_onnx_any(at, i).type.dtype != infc_onnx_any(at, 1).type.dtype)
            return infc_onnx_invalid(at, "input %zu is %s, but input 1 is %s", i,
                                     infc_dtype_name(infc_onnx_any(at, i).type.dtype),
                                     infc_dtype_name(infc_onnx_any(at, 1).type.dtype));
    bool has_axes = infc_onnx_has(at, 3) || infc_onnx_attr(at, "axes"), has_steps = infc_onnx_has(at, 4);
    if (n_ends != n || (has_axes && n_axes != n) || (has_steps && n_steps != n) || n > x.type.rank)
        return infc_onnx_invalid(at, "%d starts, %d ends, %d axes, %d steps for %d dimensions", n,
                                 n_ends, n_axes, n_steps, x.type.rank);
    infc_onnx_part part;
    infc_onnx_part_all(&x.type, &part);
    for (int i = 0; i < n; i++) {
        int axis = i;
        if (has_axes) INFC_TRY(infc_onnx_axis(at, axes[i], x.type.rank, &axis));
        if (seen[axis]) return infc_onnx_invalid(at, "axis %d is given twice", axis);
        if (has_steps && steps[i] == 0)
            return infc_onnx_invalid(at, "the step along axis %d is 0", axis);
        seen[axis] = true;
        if (has_steps && infc_dim_open(steps[i]))
            return infc_onnx_refuse(at, "the step along axis %d is %s; only fixed steps are supported",
                                    axis, infc_dim_text(at->arena, steps[i]));
        INFC_TRY(cut_axis(at, &part, axis, x.type.dims[axis], starts[i], ends[i], has_steps ? steps[i] : 1));
    }
    INFC_TRY(infc_onnx_part_of(at, &x, &part, &x));
    return infc_onnx_output(at, 0, &x);
}

/* ---- Split -------------------------------------------------------------------------------------------- */

/* Sizes: given, or as equal as can be, the last the smallest. */
static infc_status split_sizes(infc_onnx_at *at, int64_t dim, int64_t *sizes, size_t n) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "split"),
                              *parts = infc_onnx_attr(at, "num_outputs");
    int given = -1;
    int64_t total = 0;
    if (infc_onnx_has(at, 1))
        INFC_TRY(infc_onnx_input_ints(at, 1, sizes, INFC_ONNX_MAX_VARIADIC, &given));
    if (attribute) {
        given = attribute->n_ints == n ? (int)n : 0;
        for (int i = 0; i < given; i++) sizes[i] = attribute->ints[i];
    }
    if (parts && (given >= 0 || parts->i != (int64_t)n))
        return infc_onnx_invalid(at, "num_outputs is %lld for %zu outputs", (long long)parts->i, n);
    if (given < 0) {
        int64_t each = infc_dim_blocks(dim, (int64_t)n);
        if (!parts && !infc_dim_multiple(dim, (int64_t)n))
            return infc_onnx_invalid(at, "%s elements do not split into %zu equal parts",
                                     infc_dim_text(at->arena, dim), n);
        for (size_t i = 0; i < n; i++)
            sizes[i] = i + 1 < n ? each : infc_dim_sub(dim, infc_dim_mul(each, (int64_t)n - 1));
    }
    for (size_t i = 0; i < n; i++) {
        if (given >= 0 && (size_t)given != n)
            return infc_onnx_invalid(at, "%d sizes for %zu outputs", given, n);
        if (infc_dim_least(sizes[i]) < 0 || infc_dim_least(infc_dim_sub(dim, sizes[i])) < 0)
            return infc_onnx_invalid(at, "part %zu of %s elements would have %s", i,
                                     infc_dim_text(at->arena, dim), infc_dim_text(at->arena, sizes[i]));
        total = infc_dim_add(total, sizes[i]);
    }
    if (total == dim) return INFC_OK;
    return infc_onnx_invalid(at, "the parts have %s elements in all, the axis %s",
                             infc_dim_text(at->arena, total), infc_dim_text(at->arena, dim));
}

infc_status infc_onnx_import_split(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0), y;
    int64_t sizes[INFC_ONNX_MAX_VARIADIC], from = 0;
    int axis;
    size_t n = at->node->n_outputs;
    if (n == 0) return infc_onnx_invalid(at, "has no outputs");
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 0), x.type.rank, &axis));
    INFC_TRY(split_sizes(at, x.type.dims[axis], sizes, n));
    for (size_t i = 0; i < n; from = infc_dim_add(from, sizes[i++])) {
        infc_onnx_part part;
        if (!infc_onnx_output_used(at, i)) continue;
        infc_onnx_part_all(&x.type, &part);
        part.starts[axis] = from;
        part.shape[axis] = sizes[i];
        INFC_TRY(infc_onnx_part_of(at, &x, &part, &y));
        INFC_TRY(infc_onnx_output(at, i, &y));
    }
    return INFC_OK;
}

/* ---- Gather ------------------------------------------------------------------------------------------- */

enum { MAX_RUNS = 64 };

/* How many indices from i on go in equal steps; *step is between them. */
static int64_t run_at(const int64_t *indices, int64_t n, int64_t i, int64_t *step) {
    int64_t end = i + 2;
    *step = 1;
    if (i + 1 >= n || indices[i + 1] == indices[i]) return 1;
    *step = infc_dim_sub(indices[i + 1], indices[i]);
    if (infc_dim_open(*step)) return 1;
    while (end < n && infc_dim_sub(indices[end], indices[end - 1]) == *step) end++;
    return end - i;
}

static int64_t count_runs(const int64_t *indices, int64_t n) {
    int64_t runs = 0;
    for (int64_t i = 0, step; i < n; runs++) i += run_at(indices, n, i, &step);
    return runs;
}

/* The indices as runs of equal steps, at most MAX_RUNS, each a slice, joined again. */
static infc_status gather_runs(infc_onnx_at *at, const infc_onnx_operand *x, int axis,
                               const int64_t *indices, int64_t n, infc_onnx_operand *out) {
    infc_onnx_operand runs[MAX_RUNS];
    int n_runs = 0;
    for (int64_t i = 0, step; i < n;) {
        infc_onnx_part part;
        infc_onnx_part_all(&x->type, &part);
        part.shape[axis] = run_at(indices, n, i, &step);
        part.starts[axis] = indices[i];
        part.steps[axis] = part.shape[axis] > 1 ? step : 1;
        i += part.shape[axis];
        INFC_TRY(infc_onnx_part_of(at, x, &part, &runs[n_runs++]));
    }
    return infc_onnx_join(at, runs, n_runs, axis, out);
}

/* Over a constant, copied by bytes whatever the indices are. `out` may be `x`. */
static infc_status gather_constant(infc_onnx_at *at, const infc_onnx_operand *x, int axis,
                                   const int64_t *indices, int64_t n, infc_onnx_operand *out) {
    infc_type type = x->type;
    const char *from = x->constant->bytes;
    void *bytes;
    int64_t dim = type.dims[axis], outer = 1, inner = (int64_t)infc_dtype_bytes(type.dtype);
    for (int i = 0; i < axis; i++) outer *= type.dims[i];
    for (int i = axis + 1; i < type.rank; i++) inner *= type.dims[i];
    type.dims[axis] = n;
    INFC_TRY(infc_onnx_constant_dims(at, &type, infc_weight_has_dims(x->constant), &bytes, out));
    for (int64_t o = 0; o < outer && inner > 0; o++)
        for (int64_t i = 0; i < n; i++)
            memcpy((char *)bytes + (o * n + i) * inner, from + (o * dim + indices[i]) * inner, (size_t)inner);
    return INFC_OK;
}

/* Indices that are known at run time, or in too many runs. */
static infc_status gather_computed(infc_onnx_at *at, const infc_onnx_operand *x, int axis) {
    infc_onnx_operand in[2] = {*x}, y;
    infc_attr attr = infc_attr_int("axis", axis);
    INFC_TRY(infc_onnx_number(at, 1, &in[1]));
    INFC_TRY(infc_onnx_build(at, INFC_OP_gather, in, 2, &attr, 1, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_gather(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0), index = infc_onnx_any(at, 1);
    int axis, rank = x.type.rank - 1 + index.type.rank;
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 0), x.type.rank, &axis));
    int64_t *indices, n, dim = x.type.dims[axis], dims[2 * INFC_MAX_RANK];
    if (!index.constant || infc_weight_has_dims(index.constant))
        return gather_computed(at, &x, axis);
    INFC_TRY(infc_onnx_input_integers(at, 1, &indices, &n));
    if (rank > INFC_MAX_RANK)
        return infc_onnx_refuse(at, "the result has %d dimensions; at most %d are supported", rank, INFC_MAX_RANK);
    INFC_TRY(infc_onnx_indices_known(at, &index, dim));
    for (int64_t i = 0; i < n; i++)
        if (indices[i] < 0) indices[i] = infc_dim_add(dim, indices[i]);
    for (int i = 0; i < rank; i++)
        dims[i] = i < axis                     ? x.type.dims[i]
                  : i < axis + index.type.rank ? index.type.dims[i - axis]
                                               : x.type.dims[i - index.type.rank + 1];
    if (n == 0 && !x.constant) return infc_onnx_refuse(at, "there are no indices");
    if (!x.constant && count_runs(indices, n) > MAX_RUNS) return gather_computed(at, &x, axis);
    if (x.constant) INFC_TRY(gather_constant(at, &x, axis, indices, n, &x));
    else INFC_TRY(gather_runs(at, &x, axis, indices, n, &x));
    INFC_TRY(infc_onnx_view(at, &x, dims, rank, &x));
    return infc_onnx_output(at, 0, &x);
}
