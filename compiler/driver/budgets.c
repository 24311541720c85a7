#include "compile.h"
#include "table.h"
#include <inttypes.h>

static void exceeded(infc_cx *cx, const infc_spec *spec, const infc_built *built, const char *what,
                     uint64_t bytes, const char *key, uint64_t budget, const char *advice) {
    infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = spec->path},
              "%s: %s is %" PRIu64 " bytes (%s), over budgets.%s "
              "of %" PRIu64 " (%s) by %" PRIu64 "; %s",
              built->target->name, what, bytes, infc_bytes_text(cx->arena, bytes), key, budget,
              infc_bytes_text(cx->arena, budget), bytes - budget, advice);
}

/* What makes the file smaller than it is. */
static const char *file_advice(const infc_spec *spec) {
    if (spec->llm && (spec->weights == INFC_FORMAT_NONE || spec->weights == INFC_FORMAT_int8))
        return "raise it, or use precision.weights: int4 or output.weights: file";
    if (spec->weights != INFC_FORMAT_NONE && spec->weights != INFC_FORMAT_f32)
        return "raise it, or use output.weights: file";
    return "raise it, or use precision.weights: int8 or output.weights: file";
}

static void check_target(infc_cx *cx, const infc_spec *spec, const infc_built *built) {
    const infc_linked *linked = &built->linked;
    const char *what = linked->binary    ? linked->binary
                       : linked->library ? linked->library
                                         : "the size of the weights alone"; /* nothing is linked */
    uint64_t file = linked->binary        ? linked->binary_bytes
                    : linked->library     ? linked->library_bytes
                    : !spec->weights_file ? built->emitted.weights_bytes
                                          : 0;
    if (spec->budget_file && file > spec->budget_file) {
        exceeded(cx, spec, built, what, file, "file", spec->budget_file, file_advice(spec));
    }
    uint64_t memory = built->plan.arena_bytes;
    if (spec->budget_memory && memory > spec->budget_memory) {
        exceeded(cx, spec, built, "activation memory", memory, "memory", spec->budget_memory,
                 "raise it, or compile for smaller shapes");
    }
}

infc_status infc_budgets_check(infc_cx *cx, const infc_build *build) {
    size_t mark = cx->n_diags;
    for (size_t i = 0; i < build->n_targets; i++)
        check_target(cx, &build->spec, &build->targets[i]);
    return infc_diags_status(cx, mark);
}
