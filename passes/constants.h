/* constants.h - what several passes ask about constants and make of them. */
#ifndef INFC_CONSTANTS_H
#define INFC_CONSTANTS_H
#include "../compiler/ir/eval.h"
#include "pass.h"

/* True when the value is an f32 constant that is the same everywhere. */
bool infc_constant_splat(const infc_ir *ir, MlirValue value, float *out);
/* The weight operand of a conv or matmul: a constant, or the transpose of one. Null when it is neither, not f32 or not
 * plain. */
const infc_weight *infc_constant_matrix(const infc_ir *ir, MlirValue value);
/* Such an operand as a tensor: borrowed, or transposed on the arena. As large as the weight: not for long. */
infc_status infc_constant_read(const infc_ir *ir, infc_arena *arena, MlirValue value, infc_tensor *out);
/* How many outputs a conv's or matmul's weight has, and which one element i of it belongs to. */
int64_t infc_outputs_count(infc_op_kind kind, const infc_type *weight);
int64_t infc_outputs_of(infc_op_kind kind, const infc_type *weight, int64_t i);
/* A vector per output in the shape that broadcasts over the result: [C,1,1] for conv, [N] for matmul. */
infc_type infc_outputs_vector_type(infc_op_kind kind, int64_t n);
/* A new constant with `bytes` (kept) where `at` is. */
MlirValue infc_constant_add(infc_ir *ir, infc_ir_at at, MlirLocation location, const char *name,
                            const infc_type *type, const void *bytes, const char *origin);
/* The op itself on other operands, name left out: built before it. */
infc_status infc_rebuild(infc_ir *ir, MlirOperation op, const MlirValue *in, int n_in, MlirValue *out);

#endif
