/* spec_check.h - a spec's tree against the key table: problems are recorded, defaults filled in, scalars
 * converted. */
#ifndef INFC_SPEC_CHECK_H
#define INFC_SPEC_CHECK_H
#include "spec_keys.h"
#include "spec_yaml.h"

typedef struct infc_spec_check {
    infc_cx *cx;
    const char *dir; /* what paths are relative to */
    size_t n_problems;
} infc_spec_check;

typedef struct infc_spec_range { /* parsed of a dim that is known at run time */
    int64_t min, max, step;
} infc_spec_range;

typedef struct infc_spec_labels {
    const char **items;
    size_t n;
} infc_spec_labels;

/* Checks the whole spec. Afterwards every implemented key that has a default or is a map is there, keys of
 * form `some` hold lists, and nodes with problems are marked bad, as are those they are in. */
void infc_spec_check_root(infc_spec_check *check, infc_yaml *root);

/* Checks and converts one value that is not a `map` or `names`; `path` is the key in full. */
void infc_spec_check_value(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node);

/* Records a problem of `node` and marks it bad; after a hundred it only marks. */
void infc_spec_problem(infc_spec_check *check, infc_yaml *node, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5), nonnull(4)));
/* The same for a file that the spec names and that cannot be read: an I/O fault. */
void infc_spec_unreadable(infc_spec_check *check, infc_yaml *node, const char *path,
                          const char *format, ...) __attribute__((format(printf, 4, 5), nonnull(4)));
#define INFC_SPEC_DOUBLED "%s: %s is there already; used once"
/* "expected a size, for example 160MiB; got ..." */
void infc_spec_problem_expected(infc_spec_check *check, const infc_spec_key *key, const char *path,
                                infc_yaml *node);

bool infc_spec_from_set(const infc_yaml *node); /* given with --set */
/* A path of the spec is relative to the spec; one given with --set, to the working directory. */
const char *infc_spec_path(infc_spec_check *check, const infc_yaml *node);
#define INFC_SPEC_SET_FILE "--set"

/* Converters of spec_values.c, spec_names.c, spec_files.c, spec_rules.c; each records its own problem. */
void infc_spec_check_name(infc_spec_check *check, const char *path, infc_yaml *node);
void infc_spec_check_license(infc_spec_check *check, const char *path, infc_yaml *node);
void infc_spec_check_model(infc_spec_check *check, const char *path, infc_yaml *node);
void infc_spec_check_labels(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node);
void infc_spec_check_regex(infc_spec_check *check, const char *path, infc_yaml *node); /* parsed: its code */
bool infc_spec_parse_size(const char *text, int64_t *out);
bool infc_spec_parse_duration(const char *text, int64_t *out); /* nanoseconds */
bool infc_spec_parse_number(const char *text, double *out);    /* also a/b */
bool infc_spec_parse_integer(const char *text, int64_t *out);
/* `text` made into a name that is accepted: its letters and digits, the rest `_`. *out_why: null, or why that alone
 * cannot be the name and `model_` stands before it. */
const char *infc_spec_name_from(infc_arena *arena, const char *text, const char **out_why);

#endif
