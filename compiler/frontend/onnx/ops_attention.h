/* ops_attention.h - what the attention operators have in common. */
#ifndef INFC_OPS_ATTENTION_H
#define INFC_OPS_ATTENTION_H
#include "onnx_node.h"

typedef struct infc_onnx_attention {
    infc_onnx_operand q, k, v; /* [B,M,*], [B,N,*]: heads side by side from column at[i] on */
    infc_onnx_operand mask;    /* added to the scores, f32, if masked */
    bool masked, causal;
    int64_t heads, groups, d, dv, at[3], past;
    float scale; /* 0: 1 / sqrt(d) */
} infc_onnx_attention;
/* [B,M,heads * dv]. */
infc_status infc_onnx_attend(infc_onnx_at *at, const infc_onnx_attention *a, infc_onnx_operand *out);
/* Adds to what is added to the scores. */
infc_status infc_onnx_attention_mask(infc_onnx_at *at, infc_onnx_attention *a, const infc_onnx_operand *mask);

#endif
