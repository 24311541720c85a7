#include "compile.h"
#include "../ir/eval.h"

/* The reference does about 1 GFLOP in a second, and moves about as many bytes. */
enum { MAX_FLOPS = 200000000, MAX_BYTES = 512 << 20 };

static uint64_t activation_bytes(const infc_plan *plan, int buffer) {
    const infc_plan_buffer *b = &plan->buffers[buffer];
    return b->place == INFC_PLACE_WEIGHT ? 0 : b->bytes;
}

/* Steps that only move elements have no FLOPs: what they move counts too, weights apart. */
static bool is_quick(const infc_plan *plan) {
    uint64_t flops = 0, bytes = infc_plan_memory(plan);
    for (int s = 0; s < plan->n_steps; s++) {
        const infc_plan_step *step = &plan->steps[s];
        flops += step->flops;
        for (int i = 0; i < step->n_operands; i++)
            bytes += activation_bytes(plan, step->operands[i]);
        for (int i = 0; i < step->n_extras; i++)
            bytes += activation_bytes(plan, plan->extras[step->first_extra + i].buffer);
        for (int i = 0; i < step->n_stores; i++)
            bytes += activation_bytes(plan, plan->stores[step->first_store + i].buffer);
    }
    return flops < MAX_FLOPS && bytes < MAX_BYTES;
}

static bool all_f32(const infc_plan *plan, const int *buffers, int n) {
    for (int i = 0; i < n; i++) {
        if (plan->buffers[buffers[i]].type.dtype != INFC_DTYPE_f32) return false;
    }
    return true;
}

static infc_status run_reference(infc_cx *cx, infc_ir *ir, infc_arena *scratch, infc_plan *plan) {
    infc_tensor *inputs = INFC_NEW(scratch, infc_tensor, (size_t)plan->n_inputs);
    infc_tensor *outputs = INFC_NEW(scratch, infc_tensor, (size_t)plan->n_outputs);
    int64_t sizes[INFC_MAX_SIZES] = {0};
    infc_sizes_middle(plan->sizes, sizes);
    for (int i = 0; i < plan->n_inputs; i++) {
        const infc_type type = infc_type_at(&plan->buffers[plan->inputs[i]].type, sizes);
        INFC_TRY(infc_tensor_create(cx, scratch, &type, &inputs[i]));
        float *values = inputs[i].data;
        for (int64_t k = 0; k < infc_type_count(&type); k++)
            values[k] = infc_check_f32(INFC_CHECK_SEED, (uint64_t)i, (uint64_t)k);
    }
    INFC_TRY(infc_eval_main(ir, scratch, inputs, outputs, NULL, NULL));
    uint64_t hash = INFC_CHECK_START;
    for (int i = 0; i < plan->n_outputs; i++) {
        size_t n = (size_t)infc_type_count(&outputs[i].type);
        hash = infc_check_hash_f32(hash, outputs[i].data, n);
    }
    plan->check_seed = INFC_CHECK_SEED;
    plan->check_hash = hash;
    return INFC_OK;
}

infc_status infc_self_check(infc_cx *cx, infc_ir *ir, infc_plan *plan) {
    plan->check_seed = plan->check_hash = 0;
    if (!is_quick(plan) || !all_f32(plan, plan->inputs, plan->n_inputs) ||
        !all_f32(plan, plan->outputs, plan->n_outputs)) {
        return INFC_OK;
    }
    const size_t mark = cx->n_diags;
    infc_arena *scratch = infc_arena_create_scratch(cx->arena);
    infc_status status = run_reference(cx, ir, scratch, plan);
    infc_arena_destroy(&scratch);
    if (status != INFC_ERR_MODEL) return status;
    infc_diags_excuse(cx, mark, "no self-check is recorded, for made-up inputs do not suit this model");
    return INFC_OK;
}
