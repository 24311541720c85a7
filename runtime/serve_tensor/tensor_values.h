/* tensor_values.h - elements of tensors as the Open Inference Protocol has them: names of types, numbers in JSON.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_TENSOR_VALUES_H
#define INFRT_TENSOR_VALUES_H
#include "infrt.h"
#include "json_read.h"
#include "serve_refusal.h"
#include "serve_text.h"

const char *infrt_oip_type(uint32_t dtype); /* "FP32" */
uint32_t infrt_oip_dtype(const char *type); /* 0: it is no type of numbers */

/* Where values go: one tensor. */
typedef struct infrt_values {
    uint32_t dtype, rank;
    int64_t dims[INFC_MAX_RANK];
    uint64_t n;       /* elements */
    void *to;         /* n of them */
    const char *path; /* "inputs[0].data", for messages */
} infrt_values;

/* A list of n numbers, or lists nested as the shape is. The reader stands before it. False: `refusal` or the reader's
 * `wrong` says why. */
bool infrt_values_read(const infrt_values *values, infrt_json_reader *json, infrt_refusal *refusal);
/* "[1,2.5]". False: an element is NaN or infinite, for which JSON has no word. */
bool infrt_values_put(uint32_t dtype, const void *from, uint64_t n, infrt_out *out);

#endif
