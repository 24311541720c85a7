/* kernel_text.h - kernels as C text, from the embedded templates. All of it appends to `out`. */
#ifndef INFC_KERNEL_TEXT_H
#define INFC_KERNEL_TEXT_H
#include "../../templates/kernel_table.h"
#include "../base/cx.h"

/* One instance of a kernel as a static inline function `fn`, results through the functions `epi` and (vector text
 * only) `<epi>_tail`, whose first argument is `const struct <epi> *e`. Emits its own prologue (types, ld, st, EPI)
 * and undoes it, so that instances can follow each other in one file. */
infc_status infc_kernel_text(infc_cx *cx, const infk_kernel *kernel, const char *fn,
                             const char *epi, infc_buf *out);
/* The dims struct of a kind as C text; kinds with the same dims_name share it. */
void infc_kernel_dims_text(infk_kind kind, infc_buf *out);
/* The vocabulary of a level: scalar.h and <isa>.h of templates/simd, as one guarded header. */
infc_status infc_simd_text(infc_cx *cx, infc_isa isa, const char *guard, infc_buf *out);
/* One of its files, with those that it includes. */
infc_status infc_simd_file_text(infc_cx *cx, const char *name, infc_buf *out);

#endif
