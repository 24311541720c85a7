/* spec_starter.h - the text of a commented spec for a model. */
#ifndef INFC_SPEC_STARTER_H
#define INFC_SPEC_STARTER_H
#include "model_facts.h"

typedef struct infc_starter {
    size_t n_open; /* dims that its reader has to fill in */
} infc_starter;

/* `model` is the path as the spec at `path` will see it. */
void infc_spec_starter(const infc_model_facts *facts, const char *model, const char *path,
                       infc_buf *out, infc_starter *result);

/* The same for a language model. */
void infc_spec_starter_llm(const infc_spec *spec, const char *model, const char *path, infc_buf *out);

#endif
