/* kernel_case.h - the calls that the kernel tests make: dims of odd sizes, sizes of their operands, data. */
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H
#include "templates/kernel_table.h"

typedef struct kernel_case {
    infk_kind kind;
    union {
        ptrdiff_t fields[INFK_MAX_DIMS];
        infk_conv_dims conv;
        infk_pool_dims pool;
        infk_matmul_dims matmul;
        infk_reduce_dims reduce;
        infk_softmax_dims softmax;
        infk_norm_dims norm;
        infk_resize_dims resize;
        infk_strided_dims strided;
        infk_attention_dims attention;
        infk_gather_dims gather;
        infk_top_dims top;
        infk_running_dims running;
        infk_scatter_dims scatter;
        infk_sample_dims sample;
        infk_choose_dims choose;
        infk_pad_dims pad;
        infk_recurrent_dims recurrent;
        infk_relayout_dims relayout;
        infk_quantize_dims quantize;
        infk_linear_dims linear;
        infk_pack_dims pack;
        infk_embed_dims embed;
        infk_groups_dims groups;
        infk_keep_dims keep;
    } dims;
    ptrdiff_t x_count, y_count; /* elements, padding of the layout included */
    ptrdiff_t w_panels, w_inner; /* packed weights: panels of 16 outputs, steps of each; 0 panels: plain elements */
    ptrdiff_t w_starts;                    /* packing of integers: elements of its second operand */
    ptrdiff_t more[INFK_MAX_OPERANDS - 2]; /* elements of further operands, of the type of x */
    ptrdiff_t lengths; /* the last operand holds numbers of steps up to this; 0: it does not */
    ptrdiff_t columns; /* n of the epilogue is below this */
} kernel_case;

/* The cases of a kind; how many, or false at `i` past the last. Cases are the same on every target. Dims that
 * hold the size of packed weights in elements follow the weight's type. */
bool kernel_case_get(infk_kind kind, size_t i, const char *w_type, kernel_case *out);
/* Elements of the second operand. */
ptrdiff_t kernel_case_w_count(const kernel_case *c, const char *w_type);
/* Steps that integer kernels take at a time: 2 or 4, of other kinds 1; and k steps rounded up to them. */
ptrdiff_t kernel_case_step(infk_kind kind);
ptrdiff_t kernel_case_steps(infk_kind kind, ptrdiff_t k);
/* Packed integer weights of the case: steps that fill up become 0, sums those of the weights. */
void kernel_case_finish_panels(const kernel_case *c, const char *w_type, void *w);

/* The kinds of templates/kernels/linear: their cases, and operand i of one, which holds random values, made to hold
 * what the kind may be given. */
bool linear_case_get(size_t i, kernel_case *c);
void linear_case_repair(const kernel_case *c, int i, void *data);

/* ---- data ------------------------------------------------------------------------------------------- */
typedef enum kernel_data {
    DATA_PLAIN,    /* [-1, 1) */
    DATA_ROUNDING, /* magnitudes over 40 powers of two: every step rounds */
    DATA_EXTREMES, /* every eighth is an infinity, NaN, denormal, zero of either sign or the largest float */
    DATA_TINY, /* products and sums among the denormals */
    N_KERNEL_DATA
} kernel_data;
uint64_t kernel_random(uint64_t *state);
enum { KERNEL_ROWS = 7 }; /* what indices choose from */
/* `type` is "f32", "i8", "u8", "i16" or "b1".."b8"; "i32" and "i64" are indices in [-KERNEL_ROWS, KERNEL_ROWS). */
void kernel_fill(void *data, const char *type, ptrdiff_t count, kernel_data kind, uint64_t *state);
size_t kernel_type_bytes(const char *type);
/* Equal bit by bit; for f32, any NaN equals any other. */
bool kernel_equal(const void *a, const void *b, const char *type, ptrdiff_t count);

/* ---- memory ----------------------------------------------------------------------------------------- */
/* `bytes` bytes that end where an unreadable page begins (or, with `at_start`, begin where one ends), filled with
 * 0xA5. Reused from call to call: `slot` below GUARDED_SLOTS. */
enum { GUARDED_SLOTS = INFK_MAX_OPERANDS + 5, GUARDED_BYTES = 4 << 20 };
void *guarded(int slot, size_t bytes, bool at_start);

#endif
