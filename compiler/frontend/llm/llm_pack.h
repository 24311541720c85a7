/* llm_pack.h - .infw: the weights of a language model as binaries have them, with what is needed to compile it without
 * the files that they were made from. docs/infw.md has the format. Written by emit/emit_pack.c. */
#ifndef INFC_LLM_PACK_H
#define INFC_LLM_PACK_H
#include "../../ir/llm_facts.h"
#include "../../ir/weights.h"
#include "../spec.h"
#include "llm_model.h"

typedef struct infc_llm_pack {
    const char *path, *source, *source_sha256; /* the model that it was made from */
    const char *calibration;                   /* as infc_llm_facts has it */
    int64_t int4_rotate;                       /* the same */
    infc_spec_format weights;                  /* NONE: what suits the model */
    infc_spec_rule *rules;
    size_t n_rules;
    infc_checkpoint entries;
    infc_packed packed;
    uint64_t packed_bytes;
} infc_llm_pack;

/* As infc_llm_read, of an .infw file; all of it is read once, for its checksum. Sets out->pack. */
infc_status infc_llm_pack_read(infc_cx *cx, const char *path, infc_llm_model *out);
infc_status infc_llm_pack_read_bytes(infc_cx *cx, const char *path, infc_bytes file, infc_llm_model *out);
/* The file of that name beside the model's weights, or packed with them; out->ptr null: there is none. */
infc_status infc_llm_file(infc_cx *cx, const infc_llm_model *model, const char *name,
                          const char **path, infc_bytes *out);
/* Precision is what the file holds, where the spec does not say. *calibration: what its weights were chosen on. */
infc_status infc_llm_pack_spec(infc_cx *cx, const infc_llm_pack *pack, const infc_spec *spec,
                               infc_spec *out, const char **calibration);

/* For writing: all but packed weights, borrowed from the model; and members of a JSON object. */
infc_status infc_llm_pack_pieces(infc_cx *cx, const infc_llm_model *model, infc_pack_entry **out, size_t *n);
const char *infc_llm_pack_metadata(infc_cx *cx, const infc_spec *spec, const infc_llm_facts *facts,
                                   const char *source, const char *source_sha256);

#endif
