/* bpe_tokenizer.h - the tokenizer of a language model, from tokenizer.json or the metadata of GGUF, as the tables that
 * runtime/text works on; and what its files say about the beginning and the end of texts and about conversations. */
#ifndef INFC_BPE_TOKENIZER_H
#define INFC_BPE_TOKENIZER_H
#include "../../../runtime/text/chat.h"
#include "../llm/llm_model.h"

typedef struct infc_tokenizer {
    infrt_tokenizer tables; /* in the arena */
    const char *kind;       /* "byte-level BPE", "BPE over characters" */
    int32_t bos;            /* -1: none */
    int32_t eos[16];        /* ids that end an answer */
    uint32_t n_eos;
    infrt_chat chat; /* why_not when its files have no template, or one that is not supported */
} infc_tokenizer;

/* Reads it from what the model was read from. `out` is null when its files hold none. Everything that is not known is
 * refused by name, with its place in the file. */
infc_status infc_tokenizer_read(infc_cx *cx, const infc_llm_model *model, const infc_tokenizer **out);

/* The two kinds of files; bos, eos and template are not in tokenizer.json. */
infc_status infc_tokenizer_json(infc_cx *cx, const char *path, infc_bytes text, infc_tokenizer *out);
infc_status infc_tokenizer_gguf(infc_cx *cx, const infc_gguf *gguf, infc_tokenizer *out);

#endif
