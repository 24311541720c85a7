/* packed_case.c - packed weights of the cases: how many elements, and what the kernels rely on about them. */
#include "kernel_case.h"
#include <string.h>

ptrdiff_t kernel_case_step(infk_kind kind) {
    switch (kind) {
    case INFK_imatmul:
    case INFK_iconv:
    case INFK_ipack_matmul:
    case INFK_ipack_conv: return 2;
    case INFK_qmatmul:
    case INFK_qmatmul_both:
    case INFK_qconv:
    case INFK_qpack_matmul:
    case INFK_qpack_conv: return 4;
    default: return 1;
    }
}

ptrdiff_t kernel_case_steps(infk_kind kind, ptrdiff_t k) {
    const ptrdiff_t step = kernel_case_step(kind);
    return (k + step - 1) / step * step;
}

/* Elements before the steps of a panel: 16 int32, or two times 16. */
static ptrdiff_t head_of(infk_kind kind, size_t bytes) {
    return kernel_case_step(kind) == 4 ? 128 : 64 / (ptrdiff_t)bytes;
}

ptrdiff_t kernel_case_w_count(const kernel_case *c, const char *w_type) {
    const size_t bytes = kernel_type_bytes(w_type);
    if (c->w_panels == 0) return c->w_inner;
    if (kernel_case_step(c->kind) > 1)
        return c->w_panels * (c->w_inner * 16 + head_of(c->kind, bytes));
    return c->w_panels * (bytes == 1 ? (c->w_inner + 63) / 64 * 64 : c->w_inner) * 16;
}

/* Inputs of a conv's last block of 16 channels, or all of a matmul's, and how often they come. */
static ptrdiff_t last_inputs(const kernel_case *c, ptrdiff_t *taps) {
    const bool conv = c->kind == INFK_iconv || c->kind == INFK_qconv;
    *taps = conv ? c->dims.conv.kh * c->dims.conv.kw : 1;
    if (!conv) return c->dims.matmul.k;
    return c->dims.conv.ic - (c->dims.conv.ic - 1) / 16 * 16;
}

static void sum_panel(signed char *panel, ptrdiff_t steps) {
    for (ptrdiff_t lane = 0; lane < 16; lane++) {
        int32_t sum = 0;
        for (ptrdiff_t k = 0; k < steps; k++) sum += panel[128 + k / 4 * 64 + lane * 4 + k % 4];
        memcpy(panel + 64 + lane * 4, &sum, sizeof sum);
    }
}

void kernel_case_finish_panels(const kernel_case *c, const char *w_type, void *w) {
    const ptrdiff_t step = kernel_case_step(c->kind);
    if (step == 1 || c->w_starts) return;
    ptrdiff_t taps;
    const size_t bytes = kernel_type_bytes(w_type);
    const ptrdiff_t head = head_of(c->kind, bytes), panel = c->w_inner * 16 + head;
    const ptrdiff_t inputs = last_inputs(c, &taps), whole = kernel_case_steps(c->kind, inputs);
    for (ptrdiff_t p = 0; p < c->w_panels; p++) {
        char *at = (char *)w + (size_t)(p * panel) * bytes;
        for (ptrdiff_t tap = 0; tap < taps; tap++)
            for (ptrdiff_t i = inputs; i < whole; i++) {
                const ptrdiff_t k = c->w_inner - (taps - tap) * whole + i;
                for (ptrdiff_t lane = 0; lane < 16; lane++)
                    memset(at + (size_t)(head + k / step * step * 16 + lane * step + k % step) * bytes, 0, bytes);
            }
        if (step == 4) sum_panel((signed char *)at, c->w_inner);
    }
}
