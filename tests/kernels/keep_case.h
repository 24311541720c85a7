/* keep_case.h - see keep_case.c. */
#ifndef KEEP_CASE_H
#define KEEP_CASE_H
#include "kernel_case.h"

bool keep_case_is(infk_kind kind);
bool keep_case_get(size_t i, kernel_case *c); /* as kernel_case_get */
/* Fills operand 0 or 1 of a call that has keep_dims. */
void keep_case_fill(const kernel_case *c, int operand, void *data, kernel_data kind, uint64_t *state);
/* Rows as GGUF stores them. */
void keep_case_rows(void *data, ptrdiff_t format, ptrdiff_t rows, ptrdiff_t k, uint64_t *state);

#endif
