/* At which sizes a model is run whose sizes are known at run time only. */
#include "verify.h"

/* The reference kernels do about a billion operations in a second. */
#define MAX_WORK UINT64_C(30000000000)

static const char *sizes_text(const infc_ir *ir, const int64_t *at) {
    const infc_sizes *sizes = infc_ir_sizes(ir);
    infc_buf text = {.arena = ir->cx->arena};
    for (int i = 0; i < infc_sizes_count(sizes); i++)
        infc_buf_printf(&text, "%s%s %lld", i ? ", " : "", infc_sizes_at(sizes, i)->name, (long long)at[i]);
    return infc_sizes_count(sizes) ? infc_buf_str(&text) : NULL;
}

size_t infc_verify_sizes_choose(const infc_ir *ir, infc_verify_sizes out[INFC_VERIFY_MAX_SIZES],
                                const char **left_out) {
    const infc_sizes *sizes = infc_ir_sizes(ir);
    infc_verify_sizes least = {0}, middle = {0}, most = {0};
    *left_out = NULL;
    infc_sizes_middle(sizes, middle.at);
    for (int i = 0; i < infc_sizes_count(sizes); i++) {
        least.at[i] = infc_sizes_at(sizes, i)->min;
        most.at[i] = infc_sizes_at(sizes, i)->max;
    }
    out[0] = middle;
    if (infc_sizes_count(sizes) == 0) return 1;
    out[1] = least;
    out[2] = most;
    uint64_t work = infc_eval_main_work(ir, most.at);
    if (work <= MAX_WORK) return 3;
    *left_out = infc_arena_printf(
        ir->cx->arena,
        "%s: the reference would take about %llu s; give --inputs of that size to "
        "do it",
        sizes_text(ir, most.at), (unsigned long long)(work / 1000000000));
    return 2;
}

const char *infc_verify_sizes_of(const infc_ir *ir, const infc_tensor *inputs) {
    int64_t at[INFC_MAX_SIZES];
    infc_eval_main_sizes(ir, inputs, at);
    return sizes_text(ir, at);
}
