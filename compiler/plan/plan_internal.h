/* plan_internal.h - shared by the files of plan/: the plan under construction. */
#ifndef INFC_PLAN_INTERNAL_H
#define INFC_PLAN_INTERNAL_H
#include "../base/map.h"
#include "../ir/eval.h"
#include "../ir/guards.h"
#include "plan.h"

typedef struct infc_builder {
    infc_cx *cx;
    infc_ir *ir;
    infc_plan *plan;
    infc_map values;        /* "%p" of an MLIR value in @main -> buffer */
    infc_ptr_set constants; /* ops of @main that depend on weights alone */
    infc_map names;         /* identifiers taken by buffers -> the next number to put behind */
    infc_map evaluated;     /* "%p" of a constant value that no recipe can make -> tensors */
    infc_tensor *tensors;
    size_t n_tensors, cap_tensors;
    size_t cap_buffers, cap_recipes, cap_recipe_ops, cap_steps, cap_exprs, cap_extras, cap_stores, cap_guards;
    infc_guards guards;      /* of @main's calls */
    int *plan_guards;        /* guard of those -> guard of the plan, or 0: not there yet */
    int guard;               /* of the call that is being read */
    struct infc_body_value { /* of the function being read: value -> expr node, or operand of the call */
        MlirValue value;
        int extra, expr; /* -1 when not yet an extra or node of the step */
        int buffer;      /* block arguments */
    } *body;
    size_t n_body, cap_body;
} infc_builder;

int infc_builder_buffer(infc_builder *b, infc_place place, int index, const char *name, const infc_type *type);
bool infc_builder_find(const infc_builder *b, MlirValue value, int *buffer);
void infc_builder_bind(infc_builder *b, MlirValue value, int buffer);
/* plan_weights.c: the buffer of a constant value, with its recipe. */
infc_status infc_builder_weight(infc_builder *b, MlirValue value, int *buffer);
/* plan_packed.c: sets recipe->packed when the weights are of a packed file; fails when that does not have it. */
infc_status infc_builder_find_packed(infc_builder *b, const infc_type *type, infc_plan_recipe *recipe);
bool infc_builder_is_constant(const infc_builder *b, MlirValue value);
/* plan_steps.c: one step from one call of a fused function; results are written to `results` (buffers). */
infc_status infc_builder_step(infc_builder *b, MlirOperation call, const int *results);
/* One step that copies a buffer: an output that is an input, a weight or another output. */
infc_status infc_builder_copy(infc_builder *b, int from, int to);
/* plan_kernel.c: sets the step's kernels; none when there is none. *most is the call for the largest sizes. */
void infc_plan_kernel(const infc_builder *b, infc_plan_step *step, infc_kernel_call *most);
/* plan_what.c: "conv 3x3, 16 -> 32 channels, ..." for comments and dumps. */
const char *infc_plan_what(const infc_builder *b, const infc_plan_step *step);

#endif
