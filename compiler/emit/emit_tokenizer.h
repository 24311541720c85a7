/* emit_tokenizer.h - the tables of runtime/text in C. */
#ifndef INFC_EMIT_TOKENIZER_H
#define INFC_EMIT_TOKENIZER_H
#include "../../runtime/text/tokenizer.h"
#include "../base/buf.h"

/* `const infrt_tokenizer NAME`, which includes "tokenizer.h", and its static tables. They are string literals: a C
 * compiler reads megabytes of those in the time of some thousand numbers. */
void infc_emit_tokenizer(infc_buf *out, const char *name, const infrt_tokenizer *t);

#endif
