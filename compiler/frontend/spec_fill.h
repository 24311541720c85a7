/* spec_fill.h - a checked tree as the plain struct. */
#ifndef INFC_SPEC_FILL_H
#define INFC_SPEC_FILL_H
#include "spec.h"
#include "spec_check.h"

/* Leaves out what is marked bad, so that problems between keys are found in spite of other problems. */
void infc_spec_fill(infc_spec_check *check, const infc_yaml *root, infc_spec *out);
/* spec_inputs.c: out->images, audios, texts, constants from the map `inputs`. */
void infc_spec_fill_inputs(infc_spec_check *check, const infc_yaml *inputs, infc_spec *out);
/* spec_outputs.c: out->classes, embeddings from the map `outputs`. */
void infc_spec_fill_outputs(infc_spec_check *check, const infc_yaml *outputs, infc_spec *out);
/* spec_adapters.c: what adapters out takes, and has. */
void infc_spec_fill_adapters(infc_spec_check *check, const infc_yaml *root, infc_spec *out);
void infc_spec_print_adapters(const infc_spec *spec, infc_buf *out);
/* spec_serve.c: out->serve; as YAML. */
void infc_spec_fill_serve(const infc_yaml *root, infc_spec *out);
void infc_spec_print_serve(const infc_spec_serve *serve, infc_buf *out);
/* The keys of each kind of an input or output, each between spaces; the last has no kind. */
typedef struct infc_spec_kind {
    const char *kind, *keys;
} infc_spec_kind;
/* spec_look.c: keys that another kind has are problems, so that none is ignored. `path`: "inputs", "outputs". */
void infc_spec_check_kind(infc_spec_check *check, const infc_spec_kind *kinds, const char *path,
                          infc_yaml_item *item);
bool infc_spec_key_among(infc_arena *arena, const char *keys, const char *key);

/* spec_tokenizer.c: the file that `node` names; problems are recorded there. */
const infc_wordpiece *infc_spec_tokenizer(infc_spec_check *check, infc_yaml *node, const char *path);
/* The bytes of one; null, and *why, when they say something else than what is implemented. */
const infc_wordpiece *infc_spec_tokenizer_parse(infc_arena *arena, infc_bytes text, const char **why);
/* spec_look.c: the value of `key`, unless it is missing or bad: then null. */
infc_yaml *infc_spec_get(const infc_yaml *map, const char *key);
/* As infc_spec_get, for what may hold some bad values; empty when it is missing or something else. */
const infc_yaml *infc_spec_get_map(const infc_yaml *map, const char *key);
const infc_yaml *infc_spec_get_list(const infc_yaml *map, const char *key);
bool infc_spec_is(const infc_yaml *node, const char *text); /* node may be null */

#endif
