/* The graph's inputs as ports: element types, and dims that the model leaves open bound by the spec. */
#include "onnx_import.h"
#include <string.h>

/* `shapes` entries for the dims that are not bound, in the order they are met. */
typedef struct unbound {
    infc_map names;     /* to where they are */
    const char **where; /* `axis 0 of input "x", axis 0 of input "y"` */
    size_t cap;
} unbound;

static infc_spec_dim *find_binding(const infc_onnx_import *import, const char *name) {
    for (size_t i = 0; i < import->spec->n_dims; i++)
        if (strcmp(import->spec->dims[i].name, name) == 0) return &import->spec->dims[i];
    return NULL;
}

int64_t infc_onnx_bound_dim(const infc_onnx_import *import, const char *param) {
    const infc_spec_dim *dim = param ? find_binding(import, param) : NULL;
    return dim ? dim->value : 0;
}

/* "input.axis", as it is written in `shapes`. */
static const char *axis_name(const infc_onnx_import *import, const char *input, int axis) {
    return infc_arena_printf(import->cx->arena, "%s.%d", input, axis);
}

static infc_status conflict(const infc_onnx_import *import, const infc_spec_dim *dim,
                            const char *input, int axis, int64_t value, const char *by) {
    infc_arena *arena = import->cx->arena;
    return infc_fail(import->cx, INFC_ERR_SPEC, dim->loc,
                     "%s is %s here, but dimension %d of input \"%s\" is %s by %s", dim->name,
                     infc_spec_dim_text(arena, dim), axis, input, infc_dim_text(arena, value), by);
}

/* A name for expressions: letters, digits, `_` and dots. */
static const char *size_name(const infc_sizes *sizes, infc_arena *arena, const char *name) {
    infc_buf text = {.arena = arena};
    for (const char *p = name; *p && text.len < 60; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        bool later = (*p >= '0' && *p <= '9') || *p == '.';
        if (later && p == name) infc_buf_puts(&text, "s");
        infc_buf_printf(&text, "%c", letter || later ? *p : '_');
    }
    const char *base = text.len ? infc_buf_str(&text) : "s", *unique = base;
    for (int i = 2; infc_sizes_find(sizes, unique) >= 0; i++)
        unique = infc_arena_printf(arena, "%s_%d", base, i);
    return unique;
}

/* The dim that a binding gives: its number, or its size, which is added when it is met first. Axes of one name in the
 * model that are bound one by one to the same range are one size, and so are those that the spec says are the same. */
static infc_status bound_dim(infc_onnx_import *import, const infc_spec_dim *bound,
                             const char *param, int64_t *out) {
    infc_sizes *sizes = infc_ir_sizes(import->ir);
    infc_arena *arena = import->cx->arena;
    const char *key =
        param ? infc_arena_printf(arena, "%s %s", param, infc_spec_dim_text(arena, bound)) : bound->name;
    const char *origin = infc_arena_printf(arena, "= %s", bound->same ? bound->same : bound->name);
    size_t known;
    *out = bound->value;
    if (bound->max <= bound->min) return INFC_OK;
    if (infc_map_find(&import->size_of, origin, &known) || infc_map_find(&import->size_of, key, &known)) {
        infc_map_put(&import->size_of, origin, known);
        infc_map_put(&import->size_of, key, known);
        *out = infc_sizes_dim(sizes, (int)known);
        return INFC_OK;
    }
    if (infc_sizes_count(sizes) == INFC_MAX_SIZES)
        return infc_fail(import->cx, INFC_ERR_UNSUPPORTED,
                         bound->loc, "more than %d dimensions are known only at run time; give some of them numbers",
                         INFC_MAX_SIZES);
    infc_map_put(&import->size_of, key, (size_t)infc_sizes_count(sizes));
    infc_map_put(&import->size_of, origin, (size_t)infc_sizes_count(sizes));
    const char *name = size_name(sizes, arena, param ? param : bound->name);
    *out = infc_sizes_add(sizes, (infc_size){name, bound->min, bound->max, bound->step});
    return INFC_OK;
}

static infc_spec_constant *find_constant(const infc_onnx_import *import, const char *input) {
    for (size_t i = 0; i < import->spec->n_constants; i++)
        if (strcmp(import->spec->constants[i].input, input) == 0)
            return &import->spec->constants[i];
    return NULL;
}

/* Whether an input that stays one has an axis of this name, where its size can be read from. */
static bool has_axis(const infc_onnx_import *import, const char *name) {
    const infc_onnx_graph *graph = &import->model.graph;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        if (find_constant(import, graph->inputs[i].name)) continue;
        for (size_t k = 0; k < graph->inputs[i].rank && k < INFC_MAX_RANK; k++) {
            const infc_onnx_dim *dim = &graph->inputs[i].dims[k];
            if (!dim->has_value && dim->param && strcmp(dim->param, name) == 0) return true;
        }
    }
    return false;
}

typedef struct axis_names {
    infc_onnx_import *import;
    bool waits; /* one of them is not bound yet */
} axis_names;

static bool find_axis(void *user, const char *text, size_t n, int64_t *out) {
    axis_names *names = user;
    const char *name = infc_arena_copy_string(names->import->cx->arena, text, n);
    const infc_spec_dim *bound = find_binding(names->import, name);
    if (!has_axis(names->import, name)) return false;
    *out = 1;
    names->waits |= !bound;
    return !bound || bound_dim(names->import, bound, name, out) == INFC_OK;
}

/* Exporters name dimensions by what they are: "past + new". Such a name is worked out, when each name in it is that of
 * an axis. 0: one of these is not bound yet. False: it is no such name. */
static bool worked_out(infc_onnx_import *import, const char *param, int64_t *out) {
    axis_names names = {.import = import};
    int64_t dim;
    if (!strpbrk(param, "+-*/") || !infc_dim_parse_names(find_axis, &names, param, &dim) ||
        infc_dim_least(dim) < 1)
        return false;
    *out = names.waits ? 0 : dim;
    return true;
}

static bool same_binding(const infc_spec_dim *a, const infc_spec_dim *b) {
    return a->value == b->value && a->min == b->min && a->max == b->max && a->step == b->step;
}

static infc_status bind_dim(infc_onnx_import *import, const char *input, int axis,
                            const infc_onnx_dim *dim, unbound *open, int64_t *out) {
    const char *by_axis_name = axis_name(import, input, axis);
    infc_spec_dim *by_axis = find_binding(import, by_axis_name);
    infc_spec_dim *by_param = dim->param ? find_binding(import, dim->param) : NULL;
    if (by_axis) by_axis->used = true;
    if (by_param) by_param->used = true;
    infc_spec_dim *bound = by_axis ? by_axis : by_param;
    if (bound && bound->max <= bound->min && bound->value < 1)
        return infc_fail(import->cx, INFC_ERR_SPEC, bound->loc, "%s must be at least 1, not %lld",
                         bound->name, (long long)bound->value);
    bool fixed = dim->has_value && dim->value != -1; /* some exporters write -1 for an open dim */
    if (fixed && dim->value < 1)
        return infc_fail(import->cx, INFC_ERR_MODEL, (infc_loc){.file = import->path},
                         "input \"%s\": dimension %d is %lld", input, axis, (long long)dim->value);
    *out = fixed ? dim->value : 0;
    if (!fixed && bound) INFC_TRY(bound_dim(import, bound, dim->param, out));
    if (by_axis && fixed && by_axis->value != *out)
        return conflict(import, by_axis, input, axis, *out, "the model");
    bool same = !by_param || (fixed ? by_param->value == *out : same_binding(by_param, bound));
    if (!same) return conflict(import, by_param, input, axis, *out, by_axis_name);
    if (*out == 0 && !(dim->param && worked_out(import, dim->param, out))) {
        const char *name = dim->param ? dim->param : by_axis_name;
        const char *where = infc_arena_printf(import->cx->arena, "axis %d of input \"%s\"", axis, input);
        size_t i = open->names.n;
        if (infc_map_find(&open->names, name, &i)) { /* all its places: two meanings of one name are seen there */
            open->where[i] = infc_arena_printf(import->cx->arena, "%s, %s", open->where[i], where);
            return INFC_OK;
        }
        INFC_GROW(import->cx->arena, open->where, i, open->cap);
        infc_map_put(&open->names, name, i);
        open->where[i] = where;
    }
    return INFC_OK;
}

static infc_status bind_input(infc_onnx_import *import, const infc_onnx_value_info *input,
                              unbound *open, infc_type *out) {
    infc_cx *cx = import->cx;
    infc_loc loc = {.file = import->path};
    *out = (infc_type){.dtype = infc_onnx_dtype(input->elem_type), .rank = (int)input->rank};
    if (!input->has_type || (input->is_tensor && !input->elem_type))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "input \"%s\" has no element type", input->name);
    if (!input->is_tensor)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED,
                         loc, "input \"%s\" is a sequence, map, optional or sparse tensor; only tensors are supported",
                         input->name);
    bool known = out->dtype == INFC_DTYPE_f32 || out->dtype == INFC_DTYPE_bool ||
                 infc_dtype_is_integer(out->dtype);
    if (!known)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                  "input \"%s\" is %s; float, bool, int64 and shorter integer inputs are "
                  "supported: let the model take "
                  "one of these, and cast it",
                  input->name, infc_onnx_type_name(cx->arena, input->elem_type));
    if (!input->has_shape)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                         "input \"%s\" has no shape, not even its number of "
                         "dimensions; export the model with one",
                         input->name);
    if (input->rank > INFC_MAX_RANK)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "input \"%s\" has %zu dimensions; at most %d are supported",
                         input->name, input->rank, INFC_MAX_RANK);
    infc_status status = known ? INFC_OK : INFC_ERR_UNSUPPORTED;
    for (int i = 0; i < out->rank; i++) {
        infc_status bound = bind_dim(import, input->name, i, &input->dims[i], open, &out->dims[i]);
        if (bound != INFC_OK) status = bound;
    }
    if (status != INFC_OK) return status;
    const char *wrong = infc_type_check(cx->arena, out);
    return wrong ? infc_fail(cx, INFC_ERR_MODEL, loc, "input \"%s\": %s", input->name, wrong) : INFC_OK;
}

static bool is_word(const char *name) {
    if (*name >= '0' && *name <= '9') return false;
    for (const char *p = name; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (!letter && *p != '_' && !(*p >= '0' && *p <= '9')) return false;
    }
    return *name != '\0';
}

static void put_name(infc_buf *line, const char *name) {
    if (is_word(name)) infc_buf_puts(line, name);
    else infc_buf_json_string(line, name); /* a YAML double-quoted string too */
}

static void put_binding(infc_buf *line, const char *name, const char *value, const char *same) {
    if (line->len) infc_buf_puts(line, ", ");
    put_name(line, name);
    infc_buf_puts(line, ": ");
    if (same) put_name(line, same);
    else infc_buf_puts(line, value);
}

/* All of them at once, as a line that can be pasted: with what the spec binds already, since it replaces it. */
static infc_status report_unbound(infc_onnx_import *import, unbound *open) {
    infc_buf line = {.arena = import->cx->arena};
    for (size_t i = 0; i < import->spec->n_dims; i++)
        if (import->spec->dims[i].used)
            put_binding(&line, import->spec->dims[i].name,
                        infc_spec_dim_text(line.arena, &import->spec->dims[i]),
                        import->spec->dims[i].same);
    bool had = line.len > 0;
    infc_buf where = {.arena = import->cx->arena};
    for (size_t i = 0; i < open->names.n; i++) {
        put_binding(&line, open->names.entries[i].key, "1", NULL);
        infc_buf_printf(&where, "%s\"%s\" (%s)", i ? ", " : "", open->names.entries[i].key, open->where[i]);
    }
    infc_loc loc = {.file = import->path};
    return infc_fail(import->cx, INFC_ERR_SPEC, loc,
                     "the model leaves dimension%s %s open; %s   shapes: {%s}   %s the spec, "
                     "with the numbers you need, or ranges such as 1..128",
                     open->names.n > 1 ? "s" : "", infc_buf_str(&where), had ? "put" : "add",
                     infc_buf_str(&line), had ? "into" : "to");
}

/* An input that the spec gives a value is a constant. */
static infc_status bind_constant(infc_onnx_import *import, size_t id, const infc_type *type, bool *out) {
    infc_cx *cx = import->cx;
    const char *name = import->net.values[id].name;
    *out = false;
    infc_spec_constant *given = find_constant(import, name);
    if (!given) return INFC_OK;
    bool whole = given->value >= -0x1p53 && given->value <= 0x1p53 &&
                 given->value == (double)(int64_t)given->value;
    given->used = *out = true;
    if ((type->dtype != INFC_DTYPE_f32 && !whole) ||
        (type->dtype == INFC_DTYPE_bool && given->value * given->value != given->value))
        return infc_fail(cx, INFC_ERR_SPEC, given->loc, "%g is no value of input \"%s\", which is %s",
                         given->value, name, infc_dtype_name(type->dtype));
    size_t size = infc_dtype_bytes(type->dtype);
    char *bytes = infc_arena_alloc(cx->arena, (size_t)infc_type_bytes(type) + INFC_OVER_READ, INFC_ALIGN);
    float real = (float)given->value;
    int64_t integer = type->dtype == INFC_DTYPE_f32 ? 0 : (int64_t)given->value;
    const void *element = type->dtype == INFC_DTYPE_f32 ? (const void *)&real : &integer; /* little-endian */
    for (int64_t k = 0; k < infc_type_count(type); k++)
        memcpy(bytes + (size_t)k * size, element, size);
    infc_weight *weight = INFC_NEW(cx->arena, infc_weight, 1);
    *weight = (infc_weight){.name = name, .type = *type, .bytes = bytes, .origin = "constant input"};
    import->operands[id] = (infc_onnx_operand){.type = *type, .constant = weight};
    import->ready[id] = true;
    return INFC_OK;
}

/* Constants of the spec for inputs that the model does not have. */
static void check_constants(infc_onnx_import *import) {
    for (size_t i = 0; i < import->spec->n_constants; i++)
        if (!import->spec->constants[i].used)
            infc_fail(import->cx, INFC_ERR_SPEC, import->spec->constants[i].loc,
                      "the model has no input \"%s\"", import->spec->constants[i].input);
}

infc_status infc_onnx_inputs_bind(infc_onnx_import *import, infc_ir_port **out_ports, size_t *out_n) {
    const infc_onnx_graph *graph = &import->model.graph;
    size_t mark = import->cx->n_diags;
    unbound open = {.names = {.arena = import->cx->arena}};
    *out_ports = INFC_NEW(import->cx->arena, infc_ir_port, graph->n_inputs + 1);
    *out_n = 0;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        size_t id;
        if (!infc_map_find(&import->net.names, graph->inputs[i].name, &id)) continue;
        if (import->net.values[id].origin != INFC_ONNX_FROM_INPUT) continue;
        infc_type type;
        bool complete = bind_input(import, &graph->inputs[i], &open, &type) == INFC_OK;
        for (int k = 0; complete && k < type.rank; k++) complete = type.dims[k] != 0;
        if (!complete) continue;
        bool fixed;
        if (bind_constant(import, id, &type, &fixed) != INFC_OK || fixed) continue;
        (*out_ports)[(*out_n)++] = (infc_ir_port){graph->inputs[i].name, type};
    }
    if (open.names.n) report_unbound(import, &open);
    return infc_diags_status(import->cx, mark);
}

/* "; it has "batch" and others": of the dimensions that the model leaves open. */
static const char *open_text(infc_onnx_import *import) {
    const infc_onnx_graph *graph = &import->model.graph;
    const char *first = NULL;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        for (size_t k = 0; k < graph->inputs[i].rank && k < INFC_MAX_RANK; k++) {
            const infc_onnx_dim *dim = &graph->inputs[i].dims[k];
            if (dim->has_value && dim->value != -1) continue;
            const char *name = dim->param ? dim->param : axis_name(import, graph->inputs[i].name, (int)k);
            if (!first) first = name;
            else if (strcmp(first, name) != 0)
                return infc_arena_printf(import->cx->arena, "; it has \"%s\" and others", first);
        }
    }
    return first ? infc_arena_printf(import->cx->arena, "; it has \"%s\"", first) : ", and none that is open";
}

infc_status infc_onnx_inputs_check_unused(infc_onnx_import *import) {
    infc_cx *cx = import->cx;
    const infc_onnx_graph *graph = &import->model.graph;
    size_t mark = cx->n_diags, n = 0, cap = 0;
    check_constants(import);
    const char **names = NULL;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        for (size_t k = 0; k < graph->inputs[i].rank && k < INFC_MAX_RANK; k++) {
            const char *param = graph->inputs[i].dims[k].param;
            INFC_GROW(cx->arena, names, n, cap);
            names[n++] = param ? param : axis_name(import, graph->inputs[i].name, (int)k);
        }
    }
    for (size_t i = 0; i < import->spec->n_dims; i++) {
        const infc_spec_dim *dim = &import->spec->dims[i];
        if (dim->used) continue;
        const char *near = infc_nearest(dim->name, names, n);
        if (near)
            infc_fail(cx, INFC_ERR_SPEC, dim->loc,
                      "the model has no dimension \"%s\"; did you mean \"%s\"?", dim->name, near);
        else
            infc_fail(cx, INFC_ERR_SPEC, dim->loc, "the model has no dimension \"%s\"%s", dim->name,
                      open_text(import));
    }
    return infc_diags_status(cx, mark);
}

static const char *declared_text(infc_onnx_import *import, const infc_onnx_value_info *declared) {
    infc_buf text = {.arena = import->cx->arena};
    infc_buf_puts(&text, "[");
    for (size_t i = 0; i < declared->rank && i < INFC_MAX_RANK; i++) {
        const infc_onnx_dim *dim = &declared->dims[i];
        infc_buf_puts(&text, i ? "," : "");
        if (dim->has_value && dim->value >= 0)
            infc_buf_printf(&text, "%lld", (long long)dim->value);
        else infc_buf_puts(&text, dim->param ? dim->param : "?");
    }
    infc_buf_puts(&text, "]");
    return infc_buf_str(&text);
}

static bool dim_agrees(const infc_onnx_import *import, const infc_onnx_dim *dim, int64_t actual) {
    if (dim->has_value) return dim->value < 0 || dim->value == actual;
    int64_t bound = infc_onnx_bound_dim(import, dim->param);
    return bound == 0 || bound == actual;
}

infc_status infc_onnx_declared_check(infc_onnx_import *import, infc_loc loc,
                                     const infc_onnx_value_info *declared, const infc_type *type) {
    if (!declared || !declared->is_tensor) return INFC_OK;
    infc_cx *cx = import->cx;
    bool held_wide = infc_onnx_dtype(declared->elem_type) == INFC_DTYPE_i32 && type->dtype == INFC_DTYPE_i64 &&
                     infc_sizes_count(infc_ir_sizes(import->ir)) > 0; /* infc_onnx_widened */
    if (declared->elem_type && infc_onnx_dtype(declared->elem_type) != type->dtype && !held_wide)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "\"%s\" is declared %s, but is %s", declared->name,
                         infc_onnx_type_name(cx->arena, declared->elem_type), infc_dtype_name(type->dtype));
    /* Some exporters write an empty shape where they mean an unknown one. */
    if (!declared->has_shape || declared->rank == 0) return INFC_OK;
    bool same_rank = declared->rank == (size_t)type->rank, same = same_rank, open = false, wrong = false;
    for (size_t i = 0; i < declared->rank && i < INFC_MAX_RANK; i++) {
        const infc_onnx_dim *dim = &declared->dims[i];
        bool agrees = !same_rank || dim_agrees(import, dim, type->dims[i]),
             fixed = dim->has_value && dim->value >= 0;
        same = same && agrees;
        open |= !fixed;
        wrong |= fixed && !agrees;
    }
    if (same) return INFC_OK;
    if (open && !wrong) { /* exporters guess at the shapes of what they leave open */
        infc_warn(cx, loc, "\"%s\" is declared %s, but its shape is %s; the declaration is not used",
                  declared->name, declared_text(import, declared), infc_type_text(cx->arena, type));
        return INFC_OK;
    }
    return infc_fail(cx, INFC_ERR_MODEL, loc, "\"%s\" is declared %s, but its shape is %s",
                     declared->name, declared_text(import, declared), infc_type_text(cx->arena, type));
}
