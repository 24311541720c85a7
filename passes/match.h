/* match.h - what passes that recognise patterns look at. Values that do not match give a null operation or false. */
#ifndef INFC_MATCH_H
#define INFC_MATCH_H
#include "constants.h"

MlirOperation infc_match_kind(const infc_ir *ir, MlirValue value, infc_op_kind kind);
/* The element-wise op of f32 that makes `value` by the function `fn`. */
MlirOperation infc_match_map(const infc_ir *ir, MlirValue value, const char *fn);
/* The operand of the map2 `op` that is not the constant; true when the other is one value everywhere. */
bool infc_match_constant_operand(const infc_ir *ir, MlirOperation op, MlirValue *out, float *constant);
/* fn(value, constant), or for `mul` and `add` either way round: the value and the constant. */
bool infc_match_with_constant(const infc_ir *ir, MlirValue value, const char *fn, MlirValue *out, float *constant);
/* Within a few units of the last place of `want`. */
bool infc_match_close(float value, double want);
/* The value behind reshapes. */
MlirValue infc_match_past_reshapes(const infc_ir *ir, MlirValue value);
/* `value` in another shape, where `at` is: itself when it has it. */
infc_status infc_match_reshape(infc_ir *ir, infc_ir_at at, MlirLocation location, MlirValue value,
                               const int64_t *dims, int rank, MlirValue *out);

#endif
