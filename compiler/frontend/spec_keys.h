/* spec_keys.h - the table of spec keys as data; the table itself is spec_keys.def. */
#ifndef INFC_SPEC_KEYS_H
#define INFC_SPEC_KEYS_H
#include <stdbool.h>
#include <stddef.h>

/* X(token, what messages call it, example) */
#define INFC_SPEC_TYPES(X)                                                 \
    X(map, "a map", "{key: value}")                                        \
    X(names, "a map of names", "{name: value}")                            \
    X(integer, "an integer", "8")                                          \
    X(number, "a number or fraction", "0.5")                               \
    X(size, "a size", "160MiB")                                            \
    X(duration, "a duration", "80ms")                                      \
    X(boolean, "true or false", "true")                                    \
    X(string, "text", "")                                                  \
    X(path, "a path", "data.npz")                                          \
    X(model, "the path of a model", "model.onnx")                          \
    X(name, "a C identifier", "digits")                                    \
    X(license, "an SPDX licence expression", "Apache-2.0")                 \
    X(choice, "a choice", "")                                              \
    X(target, "a target", "x86-64-v3")                                     \
    X(dim, "the size of a dimension", "640 or 1..640")                     \
    X(regex, "a regular expression", "\"lm_head|embed_tokens\"")           \
    X(labels, "a list of labels or the path of a text file", "[cat, dog]") \
    X(any, "any", "")

typedef enum infc_spec_type {
#define INFC_X(token, text, example) INFC_SPEC_##token,
    INFC_SPEC_TYPES(INFC_X)
#undef INFC_X
} infc_spec_type;

typedef struct infc_spec_key {
    const char *path;
    infc_spec_type type;
    bool required, many, done;
    const char *fallback, *values, *doc;
} infc_spec_key;

size_t infc_spec_key_count(void);
const infc_spec_key *infc_spec_key_at(size_t i); /* as in spec_keys.def */
/* The key `name` directly below `parent` (null: the top), where `*` takes every name; or null. */
const infc_spec_key *infc_spec_key_below(const infc_spec_key *parent, const char *name);
bool infc_spec_key_is_below(const infc_spec_key *key, const infc_spec_key *parent); /* directly */
const char *infc_spec_key_leaf(const infc_spec_key *key); /* the last part of its path */
const char *infc_spec_type_name(infc_spec_type type);
const char *infc_spec_key_example(const infc_spec_key *key); /* "" when there is none */

/* Calls fn for each of a choice's values. */
void infc_spec_key_values(const infc_spec_key *key,
                          void (*fn)(void *user, const char *value, size_t n, bool done), void *user);
/* The spec of docs/spec.md with everything that is implemented. */
extern const char infc_spec_example[];
/* The limits of an integer, and of a number whose key has some in `values`. */
void infc_spec_key_range(const infc_spec_key *key, long long *out_low, long long *out_high);

#endif
