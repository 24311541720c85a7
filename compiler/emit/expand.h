/* expand.h - the template language of templates/kernels/ (.c.in). */
#ifndef INFC_EXPAND_H
#define INFC_EXPAND_H
#include "../base/cx.h"

typedef struct infc_expand_var {
    const char *name;
    const char *text; /* substituted by ${name}; used as an integer in expressions when it is one */
} infc_expand_var;

/* ${expr}, lines `$for i in 0..mr`, `$if expr`, `$else`, `$end`; integers and names given in `vars`. Appends to
 * `out`. Errors name file:line. */
infc_status infc_expand(infc_cx *cx, const char *file, infc_bytes text, const infc_expand_var *vars,
                        size_t n_vars, infc_buf *out);

#endif
