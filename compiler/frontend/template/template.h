/* template.h - chat templates: the part of Jinja that they use, compiled to the program of runtime/text/chat_code.h.
 * They mean what they mean to transformers: a sandboxed environment with trim_blocks and lstrip_blocks, loop controls,
 * raise_exception, tojson without escapes; tools and documents are none, functions of the clock are not defined. */
#ifndef INFC_TEMPLATE_H
#define INFC_TEMPLATE_H
#include "../../../runtime/text/chat.h"
#include "../../base/arena.h"

typedef struct infc_template_text { /* a variable that is a text, such as bos_token */
    const char *name, *text;
} infc_template_text;

/* What is not supported becomes `why_not` of the result, with the template's line: there is no program then. */
infrt_chat infc_template_compile(infc_arena *arena, const char *text,
                                 const infc_template_text *texts, size_t n_texts);

#endif
