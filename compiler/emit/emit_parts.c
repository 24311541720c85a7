/* emit_parts.c - which functions stand in which file, so that cores share the work of the C compiler and a change
 * compiles little again. A model that is small is one file, NAME.c. Else functions of one kernel instance go together,
 * and a file ends where the text of a function says so: what changes before it does not move the ends behind it. */
#include "../base/file.h"
#include "../base/hash.h"
#include "emit_unit.h"
#include <string.h>

/* What a function costs the compiler, in units of about a millisecond: by its text, and by that of its kernel, of which
 * the long ones are mostly cases that the dims rule out. A part costs as much as 150 more, for the vocabulary. */
enum {
    CHARACTERS = 300, /* of its own text, per unit */
    KERNEL_CHARACTERS = 100,
    MOST_OF_KERNEL = 60,
    SMALL_MODEL = 700,
    SMALL_PART = 600,
    LARGE_PART = 1400,
    ENDS_ONE_IN = 3
};

/* The functions, those that share an instance one after another. */
static size_t *in_order(const infc_emit_unit *u) {
    size_t *order = INFC_NEW(u->cx->arena, size_t, u->n_functions + 1), n = 0;
    bool *taken = INFC_NEW(u->cx->arena, bool, u->n_functions + 1);
    for (size_t i = 0; i < u->n_functions; i++) {
        const int instance = u->functions[i].instance;
        for (size_t k = i; k < u->n_functions; k++) {
            if (taken[k] || (k > i && (instance < 0 || u->functions[k].instance != instance)))
                continue;
            taken[k] = true;
            order[n++] = k;
            if (instance < 0) break;
        }
    }
    return order;
}

typedef struct function_facts {
    size_t cost;
    uint64_t hash; /* of the text */
} function_facts;

/* Of every function; the sum of their costs. */
static infc_status weigh(infc_emit_unit *u, infc_arena *scratch, function_facts *facts, size_t *out_all) {
    size_t *kernels = INFC_NEW(scratch, size_t, u->n_instances + 1);
    for (size_t i = 0; i < u->n_instances; i++) {
        infc_buf text = {.arena = scratch};
        INFC_TRY(infc_emit_instance_text(u, i, &text));
        const size_t cost = text.len / KERNEL_CHARACTERS;
        kernels[i] = cost < MOST_OF_KERNEL ? cost : MOST_OF_KERNEL;
    }
    *out_all = 0;
    for (size_t i = 0; i < u->n_functions; i++) {
        infc_buf text = {.arena = scratch};
        infc_emit_function_text(u, i, &text);
        facts[i].hash = infc_hash64(infc_buf_bytes(&text));
        facts[i].cost = text.len / CHARACTERS;
        if (u->functions[i].instance >= 0) facts[i].cost += kernels[u->functions[i].instance];
        if (u->functions[i].large >= 0) facts[i].cost += kernels[u->functions[i].large];
        *out_all += facts[i].cost;
    }
    return INFC_OK;
}

static size_t divide(infc_emit_unit *u, const size_t *order, const function_facts *facts) {
    size_t part = 0, parts = 0, cost = 0;
    for (size_t i = 0; i < u->n_functions; i++) {
        const function_facts *f = &facts[order[i]];
        u->functions[order[i]].part = part;
        parts = part + 1;
        cost += f->cost;
        if (cost < LARGE_PART && (cost < SMALL_PART || f->hash % ENDS_ONE_IN)) continue;
        part++;
        cost = 0;
    }
    return parts;
}

infc_status infc_emit_divide(infc_emit_unit *u) {
    infc_arena *scratch = infc_arena_create_scratch(u->cx->arena);
    function_facts *facts = INFC_NEW(scratch, function_facts, u->n_functions + 1);
    size_t all = 0;
    const infc_status status = weigh(u, scratch, facts, &all);
    const size_t parts = status == INFC_OK && all > SMALL_MODEL ? divide(u, in_order(u), facts) : 0;
    u->n_parts = parts > 1 ? parts : 0;
    infc_arena_destroy(&scratch);
    return status;
}

const char *infc_emit_part_name(const infc_emit_unit *u, size_t part) {
    return infc_arena_printf(u->cx->arena, "src/%s_kernels_%zu.c", u->name, part + 1);
}

void infc_emit_declarations(const infc_emit_unit *u, infc_buf *out) {
    for (size_t part = 0; part < u->n_parts; part++) {
        infc_buf_printf(out, "\n/* %s */\n", infc_path_base(infc_emit_part_name(u, part)));
        for (size_t i = 0; i < u->n_functions; i++)
            if (u->functions[i].part == part) infc_emit_declaration(u, i, out);
    }
}

infc_status infc_emit_part_text(infc_emit_unit *u, size_t part, infc_buf *out) {
    infc_buf functions = {.arena = u->cx->arena};
    INFC_TRY(infc_emit_functions(u, part, &functions));
    const infc_expand_var vars[] = {
        {"part", infc_arena_printf(u->cx->arena, "%zu", part + 1)},
        {"parts", infc_arena_printf(u->cx->arena, "%zu", u->n_parts)},
        {"sizes", infc_emit_n_sizes(u) ? "1" : "0"},
        {"dims_struct", infc_emit_dims_struct(u)},
        {"functions", infc_buf_str(&functions)},
    };
    return infc_emit_skeleton(u, "NAME_kernels.c.in", vars, sizeof vars / sizeof *vars, out);
}
