#include "spec_keys.h"
#include <stdio.h>
#include <string.h>

/* form -> (required, many); state -> done */
#define FORM_one false, false
#define FORM_some false, true
#define FORM_required true, false
#define STATE_done true
#define STATE_later false

static const infc_spec_key keys[] = {
#define INFC_KEY(path, type, form, fallback, values, state, doc) \
    {path, INFC_SPEC_##type, FORM_##form, STATE_##state, fallback, values, doc},
#include "spec_keys.def"
#undef INFC_KEY
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static const struct {
    const char *name, *example;
} types[] = {
#define INFC_X(token, text, example) {text, example},
    INFC_SPEC_TYPES(INFC_X)
#undef INFC_X
};

size_t infc_spec_key_count(void) { return N_KEYS; }

const infc_spec_key *infc_spec_key_at(size_t i) { return &keys[i]; }

const char *infc_spec_key_leaf(const infc_spec_key *key) {
    const char *dot = strrchr(key->path, '.');
    return dot ? dot + 1 : key->path;
}

bool infc_spec_key_is_below(const infc_spec_key *key, const infc_spec_key *parent) {
    const char *leaf = infc_spec_key_leaf(key);
    if (!parent) return leaf == key->path;
    size_t n = strlen(parent->path);
    return strncmp(key->path, parent->path, n) == 0 && key->path + n + 1 == leaf;
}

const infc_spec_key *infc_spec_key_below(const infc_spec_key *parent, const char *name) {
    for (size_t i = 0; i < N_KEYS; i++) {
        if (!infc_spec_key_is_below(&keys[i], parent)) continue;
        const char *leaf = infc_spec_key_leaf(&keys[i]);
        if (strcmp(leaf, "*") == 0 || strcmp(leaf, name) == 0) return &keys[i];
    }
    return NULL;
}

const char *infc_spec_type_name(infc_spec_type type) { return types[type].name; }

const char *infc_spec_key_example(const infc_spec_key *key) {
    if (*key->fallback) return key->fallback;
    return strcmp(key->path, "infc") == 0 ? "1" : types[key->type].example;
}

void infc_spec_key_values(const infc_spec_key *key,
                          void (*fn)(void *user, const char *value, size_t n, bool done), void *user) {
    bool done = true;
    for (const char *p = key->values; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (*p == '|') done = false;
        else fn(user, p, n, done && key->done);
        p += n;
    }
}

void infc_spec_key_range(const infc_spec_key *key, long long *out_low, long long *out_high) {
    *out_low = 1;
    *out_high = 1;
    sscanf(key->values, "%lld..%lld", out_low, out_high);
}
