/* step_time.c - a running estimate, moved by an eighth of the difference, and seen as at most twice what it was: a step
 * that the system delayed changes little, and a cost that really grew is found in a few steps. Where the base is wrong
 * (other answers than when it was measured), the cost of a row takes up the difference, so that steps come back to the
 * target. */
#include "step_time.h"

static void estimate_move(double *estimate, double seen) {
    if (*estimate == 0) *estimate = seen;
    else if (seen > 2 * *estimate) seen = 2 * *estimate;
    *estimate += (seen - *estimate) / 8;
}

void infrt_step_time_learn(infrt_step_time *time, uint32_t answers, uint32_t prompts, uint64_t ns) {
    const double all = (double)ns;
    double on_top = all - time->base_ns;
    if (answers && !prompts) estimate_move(&time->base_ns, all);
    if (!prompts) return;
    if (!answers) on_top = all;
    if (on_top < all / 8) on_top = all / 8; /* the base was slower then */
    estimate_move(&time->row_ns, on_top / prompts);
}

uint32_t infrt_step_time_rows(const infrt_step_time *time, uint64_t target_ns, uint32_t most) {
    const double left = (double)target_ns - time->base_ns;
    const double least = INFRT_STEP_ROWS_LEAST, fit = time->row_ns > 0 ? left / time->row_ns : 0;
    const double rows = fit > least ? fit : least;
    return rows < most ? (uint32_t)rows : most;
}
