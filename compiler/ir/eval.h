/* eval.h - runs ops with the reference kernels on the host: constant folding, weight recipes at emit time,
 * and the reference that `verify` compares with. */
#ifndef INFC_EVAL_H
#define INFC_EVAL_H
#include "ir.h"

typedef struct infc_tensor {
    infc_type type;
    void *data; /* infc_type_bytes(type) + INFC_OVER_READ, INFC_ALIGN aligned; or borrowed where only read */
} infc_tensor;

infc_status infc_tensor_create(infc_cx *cx, infc_arena *arena, const infc_type *type, infc_tensor *out);
/* `in` where kernels can read it, at a multiple of the element's size: a copy on the arena when it is not. */
infc_tensor infc_tensor_aligned(infc_arena *arena, const infc_tensor *in);
/* Whether the scales of blocks that are kept as GGUF stores them, `format` its number, are finite (ops/linear.c). */
bool infc_keep_is_finite(int64_t format, const void *blocks, int64_t bytes);
/* How many operations infc_eval_op would do, or elements it would move: kernels do about 1 billion in a second. */
uint64_t infc_eval_work(const infc_op_desc *desc);
/* One op on tensors; `out` is created on the arena. Layouts as in the types; an unpacked matmul or conv weight
 * is packed on the way. Operands may lie at any address. */
infc_status infc_eval_op(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                         const infc_tensor *in, infc_tensor *out);
/* All of @main (before or after target passes; calls are followed). `inputs` in order, plain layout. `seen` is
 * told every value but constants in program order: its op, its model name (or null) and the tensor, valid
 * during the call; it may write other numbers there, to go on from. When it returns false the run ends and there are
 * no outputs. Results are on the arena, or an input or weight where @main returns one; kernels can read
 * them. */
typedef bool (*infc_eval_seen)(void *user, MlirOperation op, const char *name, const infc_tensor *tensor);
infc_status infc_eval_main(infc_ir *ir, infc_arena *arena, const infc_tensor *inputs,
                           infc_tensor *outputs, infc_eval_seen seen, void *user);
/* The sizes that inputs have: each from the axes that are it. */
void infc_eval_main_sizes(const infc_ir *ir, const infc_tensor *inputs, int64_t out[INFC_MAX_SIZES]);
/* How many operations that would be at given sizes, by infc_eval_work; before target passes. Saturates. */
uint64_t infc_eval_main_work(const infc_ir *ir, const int64_t *sizes);

#endif
