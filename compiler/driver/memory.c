#include "table.h"
#include "compile.h"
#include <inttypes.h>
#include <unistd.h>

/* What may take more than one in PART of this machine's memory is worth a word. */
enum { PART = 4 };

static bool is_arrays(const infc_plan_buffer *buffer) {
    return buffer->place == INFC_PLACE_INPUT || buffer->place == INFC_PLACE_OUTPUT;
}

/* As large as whoever runs the model makes it. */
static bool is_cache(const infc_plan *plan, int buffer) {
    if (!plan->llm) return false;
    return buffer == plan->inputs[INFC_LLM_KV] ||
           (plan->llm->adapters.max_loaded && buffer == plan->inputs[INFC_LLM_ADAPTER_POOL]);
}

uint64_t infc_plan_memory(const infc_plan *plan) {
    uint64_t bytes = plan->arena_bytes;
    for (int i = 0; i < plan->n_buffers; i++)
        if (is_arrays(&plan->buffers[i]) && plan->buffers[i].alias_of < 0 && !is_cache(plan, i))
            bytes += plan->buffers[i].bytes;
    return bytes;
}

static uint64_t machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

/* The node that writes the largest buffer other than a weight, and what that is. */
static infc_loc largest(infc_cx *cx, const infc_spec *spec, const infc_plan *plan, const char **out_what) {
    infc_loc loc = {.file = spec->model};
    uint64_t most = 0;
    for (int s = 0; s < plan->n_steps; s++) {
        const infc_plan_step *step = &plan->steps[s];
        for (int i = 0; i < step->n_stores; i++) {
            const infc_plan_buffer *buffer = &plan->buffers[plan->stores[step->first_store + i].buffer];
            if (buffer->bytes <= most) continue;
            most = buffer->bytes;
            loc.node = step->node && *step->node ? step->node : NULL;
            *out_what = infc_arena_printf(
                cx->arena, "tensor \"%s\", %s, is %s", buffer->tensor ? buffer->tensor : buffer->name,
                infc_type_text(cx->arena, &buffer->type), infc_bytes_text(cx->arena, buffer->bytes));
        }
    }
    return loc;
}

/* Null when this machine has plenty for it; else the figures, and which tensor is the largest. */
static const char *too_much(infc_cx *cx, const infc_spec *spec, const infc_plan *plan, infc_loc *out_loc) {
    const uint64_t bytes = infc_plan_memory(plan), machine = machine_memory();
    const char *what = NULL;
    if (bytes <= machine / PART) return NULL;
    *out_loc = largest(cx, spec, plan, &what);
    return infc_arena_printf(cx->arena,
                             "activations, inputs and outputs take %" PRIu64 " bytes (%s); "
                             "this machine has %s%s%s",
                             bytes, infc_bytes_text(cx->arena, bytes),
                             infc_bytes_text(cx->arena, machine), what ? "; " : "", what ? what : "");
}

void infc_memory_warn(infc_cx *cx, const infc_spec *spec, const infc_plan *plan) {
    infc_loc loc;
    const char *figures = too_much(cx, spec, plan, &loc);
    if (figures)
        infc_warn(cx, loc, "%s; compile for smaller shapes, or set budgets.memory to make this an error", figures);
}

infc_status infc_memory_check(infc_cx *cx, const infc_spec *spec, const infc_plan *plan) {
    infc_loc loc;
    const char *figures = too_much(cx, spec, plan, &loc);
    if (!figures) return INFC_OK;
    return infc_fail(cx, INFC_ERR_UNSUPPORTED,
                     loc, "%s; a run of the reference takes at least as much again: verify with smaller shapes",
                     figures);
}
