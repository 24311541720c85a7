/* emit_tokenizer.h - what runtime/text works on, in C. */
#ifndef INFC_EMIT_TOKENIZER_H
#define INFC_EMIT_TOKENIZER_H
#include "../../runtime/text/chat.h"
#include "../base/buf.h"

/* `const infrt_tokenizer NAME`, which includes "tokenizer.h", and its static tables. They are string literals: a C
 * compiler reads megabytes of those in the time of some thousand numbers. */
void infc_emit_tokenizer(infc_buf *out, const char *name, const infrt_tokenizer *t);
/* `const infrt_chat NAME` of "chat.h". */
void infc_emit_chat(infc_buf *out, const char *name, const infrt_chat *chat);

#endif
