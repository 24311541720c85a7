/* If, Loop, Scan. What is known at compile time is done: the branch that is taken, bodies as often as they run. What is
 * known only when the model runs becomes a choice between values that are there either way: both branches, or a trip
 * and what was before it. */
#include "onnx_import.h"
#include "ops_part.h"

enum { MAX_TRIPS = 4096, MAX_UNROLLED_NODES = 200000 };

static const infc_onnx_graph *graph_of(infc_onnx_at *at, const char *name) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    if (!attribute || !attribute->graph) infc_onnx_invalid(at, "attribute \"%s\" is missing", name);
    return attribute ? attribute->graph : NULL;
}

/* A truth value, as bool[]. */
static infc_status check_truth(infc_onnx_at *at, const infc_onnx_operand *x, const char *what,
                               infc_onnx_operand *out) {
    if (x->type.dtype != INFC_DTYPE_bool || infc_type_count(&x->type) != 1)
        return infc_onnx_invalid(at, "%s is %s, not one bool", what, infc_type_text(at->arena, &x->type));
    return infc_onnx_view(at, x, NULL, 0, out);
}

static bool is_true(const infc_onnx_operand *truth) {
    return truth->constant && infc_weight_i64(truth->constant, 0) != 0;
}

static bool is_false(const infc_onnx_operand *truth) {
    return truth->constant && infc_weight_i64(truth->constant, 0) == 0;
}

/* `then` where the condition holds when the model runs, else `other`. What only one of them needs is left out of a run
 * that takes the other (ir/guards.h). `must`: the condition holds, or the run fails. */
static infc_status choose(infc_onnx_at *at, const infc_onnx_operand *condition, const infc_onnx_operand *then,
                          const infc_onnx_operand *other, bool must, infc_onnx_operand *out) {
    const infc_onnx_operand in[] = {*then, *condition, *other};
    infc_attr attr = infc_attr_int("must", must);
    return infc_onnx_build(at, INFC_OP_choose, in, 3, &attr, 1, out);
}

/* ---- If ------------------------------------------------------------------------------------------------- */

/* Both branches; either may have problems of its own. */
static infc_status choose_branch(infc_onnx_at *at, const infc_onnx_operand *condition,
                                 const infc_onnx_graph *const branches[2]) {
    infc_onnx_operand *results[2], y;
    infc_status statuses[2];
    for (int i = 0; i < 2; i++) {
        results[i] = INFC_NEW(at->arena, infc_onnx_operand, at->node->n_outputs + 1);
        statuses[i] = infc_onnx_import_subgraph(at, branches[i], NULL, results[i]);
    }
    for (int i = 0; i < 2; i++) INFC_TRY(statuses[i]);
    for (size_t i = 0; i < at->node->n_outputs; i++) {
        if (!infc_onnx_output_used(at, i)) continue;
        if (!infc_type_equal(&results[0][i].type, &results[1][i].type))
            return infc_onnx_refuse(
                at,
                "output %zu is %s in the then branch and %s in the else branch; which is taken is "
                "known "
                "only when the model runs, and a tensor has one shape: export branches that agree, "
                "or fix "
                "the condition with   inputs: {NAME: {kind: constant, value: N}}",
                i, infc_type_text(at->arena, &results[1][i].type),
                infc_type_text(at->arena, &results[0][i].type));
        INFC_TRY(choose(at, condition, &results[1][i], &results[0][i], false, &y));
        INFC_TRY(infc_onnx_output(at, i, &y));
    }
    return INFC_OK;
}

infc_status infc_onnx_import_if(infc_onnx_at *at) {
    infc_onnx_operand condition = infc_onnx_any(at, 0), *results;
    const infc_onnx_graph *branches[] = {graph_of(at, "else_branch"), graph_of(at, "then_branch")};
    if (!branches[0] || !branches[1]) return INFC_ERR_MODEL;
    for (int i = 0; i < 2; i++)
        if (branches[i]->n_outputs != at->node->n_outputs || branches[i]->n_inputs)
            return infc_onnx_invalid(at, "the %s branch has %zu inputs and %zu outputs, not none and %zu",
                                     i ? "then" : "else", branches[i]->n_inputs,
                                     branches[i]->n_outputs, at->node->n_outputs);
    INFC_TRY(check_truth(at, &condition, "the condition", &condition));
    if (!condition.constant) return choose_branch(at, &condition, branches);
    results = INFC_NEW(at->arena, infc_onnx_operand, at->node->n_outputs + 1);
    INFC_TRY(infc_onnx_import_subgraph(at, branches[is_true(&condition)], NULL, results));
    for (size_t i = 0; i < at->node->n_outputs; i++) INFC_TRY(infc_onnx_output(at, i, &results[i]));
    return INFC_OK;
}

/* ---- what Loop and Scan share ------------------------------------------------------------------------------ */

typedef struct trips { /* a body that is run again and again */
    const infc_onnx_graph *body;
    infc_onnx_operand *in, *out; /* of the body */
    infc_onnx_operand **rows;    /* scan output -> what each trip gave */
    size_t n_rows, first_row;    /* outputs of the body from first_row on are rows */
    int64_t n;
} trips;

static infc_status trips_begin(infc_onnx_at *at, const infc_onnx_graph *body, int64_t most,
                               size_t first_row, trips *out) {
    if (most > MAX_TRIPS || most * (int64_t)body->n_nodes > MAX_UNROLLED_NODES)
        return infc_onnx_refuse(
            at,
            "%lld trips through %zu nodes; loops are unrolled, up to %d trips and "
            "%d nodes in all",
            (long long)most, body->n_nodes, MAX_TRIPS, MAX_UNROLLED_NODES);
    *out = (trips){.body = body, .first_row = first_row, .n_rows = body->n_outputs - first_row};
    out->in = INFC_NEW(at->arena, infc_onnx_operand, body->n_inputs + 1);
    out->out = INFC_NEW(at->arena, infc_onnx_operand, body->n_outputs + 1);
    out->rows = INFC_NEW(at->arena, infc_onnx_operand *, out->n_rows + 1);
    for (size_t i = 0; i < out->n_rows; i++)
        out->rows[i] = INFC_NEW(at->arena, infc_onnx_operand, (size_t)most + 1);
    return INFC_OK;
}

static infc_status run_body(infc_onnx_at *at, trips *t) {
    INFC_TRY(infc_onnx_import_subgraph(at, t->body, t->in, t->out));
    for (size_t i = 0; i < t->n_rows; i++) t->rows[i][t->n] = t->out[t->first_row + i];
    t->n++;
    return INFC_OK;
}

/* What the trips gave for row `i`, one beside the other along a new axis, as output `to`. */
static infc_status stack_rows(infc_onnx_at *at, trips *t, size_t i, size_t to, int64_t along, bool backward) {
    int axis;
    infc_onnx_operand *rows = t->rows[i], y;
    if (!infc_onnx_output_used(at, to)) return INFC_OK;
    const infc_type first = rows[0].type;
    if (t->n == 0)
        return infc_onnx_refuse(at, "output %zu collects nothing: there are no trips", to);
    INFC_TRY(infc_onnx_axis(at, along, first.rank + 1, &axis));
    if (first.rank == INFC_MAX_RANK)
        return infc_onnx_refuse(at, "more than %d dimensions", INFC_MAX_RANK);
    for (int64_t k = 0; k < t->n; k++) {
        int64_t dims[INFC_MAX_RANK];
        if (!infc_type_equal(&rows[k].type, &first))
            return infc_onnx_refuse(at, "output %zu collects %s and %s: trips that differ are not supported",
                                    to, infc_type_text(at->arena, &first),
                                    infc_type_text(at->arena, &rows[k].type));
        for (int d = 0; d <= rows[k].type.rank; d++)
            dims[d] = d == axis ? 1 : rows[k].type.dims[d - (d > axis)];
        INFC_TRY(infc_onnx_view(at, &rows[k], dims, rows[k].type.rank + 1, &rows[k]));
    }
    for (int64_t k = 0; backward && k < t->n / 2; k++) {
        y = rows[k];
        rows[k] = rows[t->n - 1 - k];
        rows[t->n - 1 - k] = y;
    }
    INFC_TRY(infc_onnx_join(at, rows, (int)t->n, axis, &y));
    return infc_onnx_output(at, to, &y);
}

static infc_status scalar_constant(infc_onnx_at *at, infc_dtype dtype, int64_t value, infc_onnx_operand *out) {
    const infc_type type = {.dtype = dtype};
    const uint8_t truth = value != 0;
    return infc_onnx_filled(at, &type, dtype == INFC_DTYPE_bool ? (const void *)&truth : &value, out);
}

/* ---- Loop ------------------------------------------------------------------------------------------------- */

enum {
    UNSAID_TRIPS = 64
}; /* of a loop that does not say how many, where all is known at compile time */

typedef struct loop { /* what decides how often the body runs */
    trips t;
    size_t n_states;
    int64_t limit;           /* trips that are built */
    bool ends;               /* it has no more of them */
    bool counted;            /* `count` is known only when the model runs */
    infc_onnx_operand count; /* i64[] */
    infc_onnx_operand go;    /* whether the trip that comes next is made */
} loop;

/* How many trips there are at most, by the first input and the spec. */
static infc_status count_trips(infc_onnx_at *at, loop *l) {
    int n;
    int64_t most = INT64_MAX, bound = at->import->spec->max_trips;
    l->counted = infc_onnx_has(at, 0) && !infc_onnx_any(at, 0).constant;
    if (l->counted) {
        l->count = infc_onnx_any(at, 0);
        if (l->count.type.dtype != INFC_DTYPE_i64 || infc_type_count(&l->count.type) != 1)
            return infc_onnx_invalid(at, "input 0 is %s, not one int64",
                                     infc_type_text(at->arena, &l->count.type));
        INFC_TRY(infc_onnx_view(at, &l->count, NULL, 0, &l->count));
    } else if (infc_onnx_has(at, 0)) {
        INFC_TRY(infc_onnx_input_ints(at, 0, &most, 1, &n));
        if (n != 1) return infc_onnx_invalid(at, "input 0 is not one number");
        if (most < 0) most = 0;
    }
    if (!bound) bound = most == INT64_MAX ? UNSAID_TRIPS : most;
    l->limit = most < bound ? most : bound;
    l->ends = !l->counted && most <= bound;
    return INFC_OK;
}

/* What a trip that may not be made asks for. */
static infc_status check_open(infc_onnx_at *at, const loop *l) {
    const char *why = "how many trips are made is known only when the model runs";
    if (!l->ends && !at->import->spec->max_trips)
        return infc_onnx_refuse(at, "%s; say how many there are at most in the spec: loops: {max_trips: N}, up to %d",
                                why, MAX_TRIPS);
    for (size_t i = 0; i < l->t.n_rows; i++)
        if (infc_onnx_output_used(at, l->n_states + i))
            return infc_onnx_refuse(
                at,
                "output %zu has a row per trip, but %s: fix what decides it with   "
                "inputs: {NAME: {kind: constant, value: N}}",
                l->n_states + i, why);
    return INFC_OK;
}

/* Whether trip `trip` is within the count, for counts known only when the model runs. */
static infc_status within_count(infc_onnx_at *at, loop *l, int64_t trip) {
    infc_onnx_operand number, within;
    if (!l->counted) return INFC_OK;
    INFC_TRY(scalar_constant(at, INFC_DTYPE_i64, trip, &number));
    INFC_TRY(infc_onnx_map2(at, "less", number, l->count, &within));
    if (is_true(&l->go)) l->go = within;
    else INFC_TRY(infc_onnx_map2(at, "and", l->go, within, &l->go));
    return INFC_OK;
}

/* After a trip: what the next one starts from, if this one was made, and whether that is made. */
static infc_status take_states(infc_onnx_at *at, loop *l, const infc_onnx_operand *next) {
    trips *t = &l->t;
    infc_onnx_operand no;
    for (size_t i = 0; i < l->n_states; i++) {
        infc_onnx_operand *state = &t->in[2 + i], *made = &t->out[1 + i];
        if (is_true(&l->go)) {
            *state = *made;
            continue;
        }
        if (!infc_type_equal(&state->type, &made->type))
            return infc_onnx_refuse(at,
                                    "value %zu goes into a trip as %s and comes out as %s; whether "
                                    "that trip is made is known only "
                                    "when the model runs, and a tensor has one shape",
                                    i, infc_type_text(at->arena, &state->type),
                                    infc_type_text(at->arena, &made->type));
        INFC_TRY(choose(at, &l->go, made, state, false, state));
    }
    if (is_true(&l->go)) l->go = *next;
    else if (!is_true(next)) {
        INFC_TRY(scalar_constant(at, INFC_DTYPE_bool, 0, &no));
        INFC_TRY(choose(at, &l->go, next, &no, false, &l->go));
    }
    return INFC_OK;
}

static infc_status run_loop(infc_onnx_at *at, loop *l) {
    trips *t = &l->t;
    for (int64_t trip = 0; !is_false(&l->go) && trip < l->limit; trip++) {
        infc_onnx_operand next;
        INFC_TRY(within_count(at, l, trip));
        if (!l->go.constant) INFC_TRY(check_open(at, l));
        INFC_TRY(scalar_constant(at, INFC_DTYPE_i64, trip, &t->in[0]));
        INFC_TRY(scalar_constant(at, INFC_DTYPE_bool, 1, &t->in[1]));
        INFC_TRY(run_body(at, t));
        INFC_TRY(check_truth(at, &t->out[0], "the condition of the next trip", &next));
        INFC_TRY(take_states(at, l, &next));
    }
    return INFC_OK;
}

/* A run that would make more trips than were built fails rather than give what is wrong. */
static infc_status must_end(infc_onnx_at *at, loop *l) {
    infc_onnx_operand ended;
    if (l->ends || is_false(&l->go)) return INFC_OK;
    INFC_TRY(within_count(at, l, l->limit));
    if (l->go.constant)
        return infc_onnx_refuse(at, "still runs after %lld trips; loops are unrolled up to that%s",
                                (long long)l->limit,
                                at->import->spec->max_trips ? "" : ", or to loops.max_trips of the spec");
    INFC_TRY(check_open(at, l));
    INFC_TRY(infc_onnx_map(at, "not", &l->go, 1, &ended));
    for (size_t i = 0; i < l->n_states; i++)
        INFC_TRY(choose(at, &ended, &l->t.in[2 + i], &l->t.in[2 + i], true, &l->t.in[2 + i]));
    return INFC_OK;
}

static infc_status check_loop(infc_onnx_at *at, const infc_onnx_graph *body, size_t n_states) {
    if (body->n_inputs != 2 + n_states || body->n_outputs < 1 + n_states ||
        at->node->n_outputs > body->n_outputs - 1)
        return infc_onnx_invalid(at, "the body has %zu inputs and %zu outputs, the node %zu and %zu",
                                 body->n_inputs, body->n_outputs, at->node->n_inputs, at->node->n_outputs);
    for (size_t i = 0; i < n_states; i++)
        if (!infc_onnx_has(at, 2 + i)) return infc_onnx_invalid(at, "input %zu is left out", 2 + i);
    return INFC_OK;
}

infc_status infc_onnx_import_loop(infc_onnx_at *at) {
    loop l = {.n_states = at->node->n_inputs > 2 ? at->node->n_inputs - 2 : 0};
    const infc_onnx_graph *body = graph_of(at, "body");
    if (!body) return INFC_ERR_MODEL;
    INFC_TRY(check_loop(at, body, l.n_states));
    INFC_TRY(count_trips(at, &l));
    INFC_TRY(scalar_constant(at, INFC_DTYPE_bool, 1, &l.go));
    if (infc_onnx_has(at, 1)) {
        infc_onnx_operand condition = infc_onnx_any(at, 1);
        INFC_TRY(check_truth(at, &condition, "the condition", &l.go));
    }
    INFC_TRY(trips_begin(at, body, l.limit, 1 + l.n_states, &l.t));
    for (size_t i = 0; i < l.n_states; i++) l.t.in[2 + i] = infc_onnx_any(at, 2 + i);
    INFC_TRY(run_loop(at, &l));
    INFC_TRY(must_end(at, &l));
    for (size_t i = 0; i < l.n_states; i++) INFC_TRY(infc_onnx_output(at, i, &l.t.in[2 + i]));
    for (size_t i = 0; i < l.t.n_rows; i++)
        INFC_TRY(stack_rows(at, &l.t, i, l.n_states + i, 0, false));
    return INFC_OK;
}

/* ---- Scan ------------------------------------------------------------------------------------------------- */

/* Number i of an optional list that has `n` numbers when it is given. */
static infc_status list_item(infc_onnx_at *at, const char *name, size_t i, size_t n, int64_t *out) {
    const infc_onnx_attribute *list = infc_onnx_attr(at, name);
    *out = 0;
    if (!list) return INFC_OK;
    if (list->n_ints != n)
        return infc_onnx_invalid(at, "attribute \"%s\" has %zu numbers, not %zu", name, list->n_ints, n);
    *out = list->ints[i];
    return INFC_OK;
}

/* Element `at_trip` of scan input x along `axis`, that axis gone. */
static infc_status take_row(infc_onnx_at *at, const infc_onnx_operand *x, int axis, int64_t trip,
                            infc_onnx_operand *out) {
    infc_onnx_part part;
    int64_t dims[INFC_MAX_RANK];
    infc_onnx_part_all(&x->type, &part);
    part.starts[axis] = trip;
    part.shape[axis] = 1;
    for (int d = 0, k = 0; d < x->type.rank; d++)
        if (d != axis) dims[k++] = x->type.dims[d];
    INFC_TRY(infc_onnx_part_of(at, x, &part, out));
    return infc_onnx_view(at, out, dims, x->type.rank - 1, out);
}

typedef struct scanned { /* a scan input */
    infc_onnx_operand x;
    int axis;
    int64_t backward;
} scanned;

static infc_status read_scanned(infc_onnx_at *at, size_t first, size_t n, scanned *out, int64_t *trips_out) {
    for (size_t i = 0; i < n; i++) {
        int64_t axis;
        out[i].x = infc_onnx_any(at, first + i);
        INFC_TRY(list_item(at, "scan_input_axes", i, n, &axis));
        INFC_TRY(list_item(at, "scan_input_directions", i, n, &out[i].backward));
        INFC_TRY(infc_onnx_axis(at, axis, out[i].x.type.rank, &out[i].axis));
        int64_t extent = out[i].x.type.dims[out[i].axis];
        if (infc_dim_open(extent))
            return infc_onnx_refuse(at, "makes %s trips; Scan needs a number known at compile time: fix it in shapes",
                                    infc_dim_text(at->arena, extent));
        if (i > 0 && extent != *trips_out)
            return infc_onnx_invalid(at, "scan inputs of %lld and %lld elements",
                                     (long long)*trips_out, (long long)extent);
        *trips_out = extent;
    }
    return INFC_OK;
}

infc_status infc_onnx_import_scan(infc_onnx_at *at) {
    trips t;
    int64_t n_trips = 0, n_scanned = infc_onnx_attr_int(at, "num_scan_inputs", 0),
            n_in = (int64_t)at->node->n_inputs;
    const infc_onnx_graph *body = graph_of(at, "body");
    if (!body) return INFC_ERR_MODEL;
    if (at->opset == 8)
        return infc_onnx_refuse(at, "Scan of opset 8, which has a batch dimension of its own, is "
                                    "not supported: convert the "
                                    "model to opset 9 or later");
    if (n_scanned < 1 || n_scanned > n_in)
        return infc_onnx_invalid(at, "attribute \"num_scan_inputs\" is %lld", (long long)n_scanned);
    size_t n_states = (size_t)(n_in - n_scanned);
    if (body->n_inputs != at->node->n_inputs || body->n_outputs < n_states || at->node->n_outputs > body->n_outputs)
        return infc_onnx_invalid(at, "the body has %zu inputs and %zu outputs, the node %zu and %zu",
                                 body->n_inputs, body->n_outputs, at->node->n_inputs, at->node->n_outputs);
    for (size_t i = 0; i < at->node->n_inputs; i++)
        if (!infc_onnx_has(at, i)) return infc_onnx_invalid(at, "input %zu is left out", i);
    scanned *scans = INFC_NEW(at->arena, scanned, (size_t)n_scanned);
    INFC_TRY(read_scanned(at, n_states, (size_t)n_scanned, scans, &n_trips));
    INFC_TRY(trips_begin(at, body, n_trips, n_states, &t));
    for (size_t i = 0; i < n_states; i++) t.in[i] = infc_onnx_any(at, i);
    for (int64_t trip = 0; trip < n_trips; trip++) {
        for (size_t i = 0; i < (size_t)n_scanned; i++)
            INFC_TRY(take_row(at, &scans[i].x, scans[i].axis,
                              scans[i].backward ? n_trips - 1 - trip : trip, &t.in[n_states + i]));
        INFC_TRY(run_body(at, &t));
        for (size_t i = 0; i < n_states; i++) t.in[i] = t.out[i];
    }
    for (size_t i = 0; i < n_states; i++) INFC_TRY(infc_onnx_output(at, i, &t.in[i]));
    for (size_t i = 0; i < t.n_rows; i++) {
        int64_t axis, backward;
        INFC_TRY(list_item(at, "scan_output_axes", i, t.n_rows, &axis));
        INFC_TRY(list_item(at, "scan_output_directions", i, t.n_rows, &backward));
        INFC_TRY(stack_rows(at, &t, i, n_states + i, axis, backward != 0));
    }
    return INFC_OK;
}
