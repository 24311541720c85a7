/* eval_map.h - element-wise functions on tensors in memory, any layouts that the shape rule accepts. */
#ifndef INFC_EVAL_MAP_H
#define INFC_EVAL_MAP_H
#include "eval.h"

/* `out` is allocated; its pad lanes are left as they are. An interrupt leaves it unfinished. */
void infc_eval_map(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out);

/* f16 or bf16 as f32. */
void infc_eval_widen(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out);
/* To nearest, half to even. -> whether all are finite that were: f16 ends at 65504. */
bool infc_eval_narrow(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out);

#endif
