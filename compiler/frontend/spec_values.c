/* One value of the spec: from text to what it means. */
#include "spec_check.h"
#include "../base/map.h"
#include "../../targets/target.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool infc_spec_parse_integer(const char *text, int64_t *out) {
    const char *digits = text + (*text == '-');
    if (!*digits || strspn(digits, "0123456789") != strlen(digits)) return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    *out = value;
    return errno == 0;
}

static bool parse_decimal(const char *text, size_t n, double *out) {
    char copy[64];
    if (n == 0 || n >= sizeof copy || strspn(text, "+-.0123456789eE") < n) return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    char *end;
    *out = strtod(copy, &end);
    return *end == '\0' && end != copy && isfinite(*out);
}

bool infc_spec_parse_number(const char *text, double *out) {
    size_t n = strcspn(text, "/");
    double divisor;
    if (!parse_decimal(text, n, out)) return false;
    if (!text[n]) return true;
    if (!parse_decimal(text + n + 1, strlen(text + n + 1), &divisor) || divisor == 0) return false;
    *out /= divisor;
    return isfinite(*out);
}

/* A count and its unit: digits, spaces, a name. */
static bool parse_count(const char *text, int64_t *count, const char **unit) {
    size_t n = strspn(text, "0123456789");
    char digits[20];
    if (n == 0 || n >= sizeof digits) return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    *unit = text + n;
    return infc_spec_parse_integer(digits, count);
}

bool infc_spec_parse_duration(const char *text, int64_t *out) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};
    const char *unit;
    int64_t count;
    if (!parse_count(text, &count, &unit)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, unit) == 0)
            return !__builtin_mul_overflow(count, units[i].ns, out) && *out > 0;
    return false;
}

bool infc_spec_parse_size(const char *text, int64_t *out) {
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"KiB", 1LL << 10},
        {"MiB", 1LL << 20},
        {"GiB", 1LL << 30},
        {"TiB", 1LL << 40},
        {"kB", 1000},
        {"KB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
    };
    const char *unit;
    int64_t count;
    if (!parse_count(text, &count, &unit)) return false;
    unit += strspn(unit, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, unit) == 0)
            return !__builtin_mul_overflow(count, units[i].bytes, out) && *out > 0;
    }
    return false;
}

static void check_integer(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    long long low, high;
    infc_spec_key_range(key, &low, &high);
    if (!node->plain || !infc_spec_parse_integer(node->text, &node->integer)) {
        infc_spec_problem_expected(check, key, path, node);
    } else if (node->integer < low || node->integer > high) {
        if (low == high)
            infc_spec_problem(check, node, path, "only %lld is known to this version of infc", low);
        else
            infc_spec_problem(check, node, path, "expected %lld to %lld; got %s", low, high, node->text);
    }
}

enum { MAX_DIM_BITS = 40 };

static void check_range(infc_spec_check *check, const char *path, infc_yaml *node, infc_spec_range *range) {
    long long low = (long long)range->min, high = (long long)range->max, step = (long long)range->step;
    node->parsed = range;
    if (low < 1)
        infc_spec_problem(check, node, path, "the smallest is %lld; it must be at least 1", low);
    else if (high > INT64_C(1) << MAX_DIM_BITS)
        infc_spec_problem(check, node, path, "the largest is %lld; the limit is 2^%d", high, MAX_DIM_BITS);
    else if (low > high)
        infc_spec_problem(check, node, path, "the smallest, %lld, is above the largest, %lld", low, high);
    else if (low % step != 0 || high % step != 0)
        infc_spec_problem(check, node, path, "%lld and %lld must be multiples of %lld", low, high, step);
}

/* `LOW..HIGH`; what is wrong with the bounds is recorded. */
static bool parse_range(infc_spec_check *check, const char *path, infc_yaml *node) {
    const char *dots = strstr(node->text, "..");
    infc_spec_range *range = INFC_NEW(check->cx->arena, infc_spec_range, 1);
    range->step = 1;
    if (!dots) return false;
    const char *low = infc_arena_copy_string(check->cx->arena, node->text, (size_t)(dots - node->text));
    if (!infc_spec_parse_integer(low, &range->min) || !infc_spec_parse_integer(dots + 2, &range->max))
        return false;
    check_range(check, path, node, range);
    return true;
}

static int64_t bound_of(const infc_yaml *map, const char *key) {
    return infc_yaml_get(map, key)->integer;
}

/* Its keys have been checked one by one. */
static void check_dim_map(infc_spec_check *check, const char *path, infc_yaml *node) {
    infc_spec_range *range = INFC_NEW(check->cx->arena, infc_spec_range, 1);
    *range = (infc_spec_range){bound_of(node, "min"), bound_of(node, "max"), bound_of(node, "multiple")};
    const infc_yaml *min = infc_yaml_get(node, "min");
    if (min->is_default) range->min = range->step; /* the first multiple */
    check_range(check, path, node, range);
}

static void check_dim(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    if (node->kind == INFC_YAML_MAP) {
        check_dim_map(check, path, node);
    } else if (node->kind == INFC_YAML_SCALAR && node->plain && parse_range(check, path, node)) {
        return;
    } else if (node->kind == INFC_YAML_SCALAR && *node->text &&
               (!node->plain || !strchr("+-.0123456789", *node->text))) {
        return; /* the name of another, which is looked up once all are known */
    } else if (node->kind != INFC_YAML_SCALAR || !infc_spec_parse_integer(node->text, &node->integer)) {
        infc_spec_problem_expected(check, key, path, node);
    } else if (node->integer < 1 || node->integer > (int64_t)1 << MAX_DIM_BITS) {
        infc_spec_problem(check, node, path, "a dimension is 1 to 2^%d; got %s", MAX_DIM_BITS, node->text);
    }
}

typedef struct choice {
    const char *text, *names[16];
    size_t n;
    bool known, done;
    infc_buf implemented;
} choice;

static void choice_value(void *user, const char *value, size_t n, bool done) {
    choice *c = user;
    if (strlen(c->text) == n && memcmp(c->text, value, n) == 0) {
        c->known = true;
        c->done = done;
    }
    if (!done) return;
    infc_buf_printf(&c->implemented, "%s%.*s", c->implemented.len ? ", " : "", (int)n, value);
    if (c->n < sizeof c->names / sizeof *c->names) {
        c->names[c->n++] = infc_arena_copy_string(c->implemented.arena, value, n);
    }
}

static void check_choice(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    choice c = {.text = node->text, .implemented = {.arena = check->cx->arena}};
    infc_spec_key_values(key, choice_value, &c);
    if (c.known && c.done) return;
    if (c.known) {
        infc_spec_problem(check, node, path, "%s is not implemented yet; implemented: %s",
                          node->text, infc_buf_str(&c.implemented));
        return;
    }
    const char *nearest = infc_nearest(node->text, c.names, c.n);
    const char *quoted = infc_yaml_quote(check->cx, node->text);
    if (nearest) {
        infc_spec_problem(check, node, path, "unknown value %s; did you mean \"%s\"?", quoted, nearest);
    } else {
        infc_spec_problem(check, node, path, "unknown value %s; expected one of: %s", quoted,
                          infc_buf_str(&c.implemented));
    }
}

/* `{arch: A, features: [f, g]}` is `A+f+g`, `{arch: A, levels: [l, m]}` is `A:l,m`. */
static const char *target_text(infc_spec_check *check, infc_yaml *node) {
    if (node->kind == INFC_YAML_SCALAR) return node->text;
    infc_buf text = {.arena = check->cx->arena};
    const infc_yaml *features = infc_yaml_get(node, "features");
    infc_buf_puts(&text, infc_yaml_get(node, "arch")->text);
    for (size_t i = 0; features && i < features->n; i++) {
        infc_buf_printf(&text, "+%s", features->items[i].value->text);
    }
    const infc_yaml *levels = infc_yaml_get(node, "levels");
    for (size_t i = 0; levels && i < levels->n; i++)
        infc_buf_printf(&text, "%c%s", i ? ',' : ':', levels->items[i].value->text);
    return infc_buf_str(&text);
}

static void check_target(infc_spec_check *check, infc_yaml *node) {
    infc_target *target = INFC_NEW(check->cx->arena, infc_target, 1);
    const char *text = target_text(check, node);
    node->parsed = target;
    if (strlen(text) > 200) infc_spec_problem(check, node, "targets", "too long for a target");
    else if (infc_target_parse(check->cx, node->loc, text, target) != INFC_OK) node->bad = true;
}

static void check_number(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    long long low, high;
    infc_spec_key_range(key, &low, &high);
    if (!node->plain || !infc_spec_parse_number(node->text, &node->number))
        infc_spec_problem_expected(check, key, path, node);
    else if (*key->values && !(node->number >= (double)low && node->number <= (double)high))
        infc_spec_problem(check, node, path, "expected %lld to %lld; got %s", low, high, node->text);
}

/* A size or a duration: the key's values are the least one. */
static void check_amount(infc_spec_check *check, const infc_spec_key *key, const char *path,
                         infc_yaml *node, bool (*parse)(const char *text, int64_t *out)) {
    int64_t least = 0;
    if (!node->plain || !parse(node->text, &node->integer))
        infc_spec_problem_expected(check, key, path, node);
    else if (parse(key->values, &least) && node->integer < least)
        infc_spec_problem(check, node, path, "expected at least %s: with less nothing works; got %s",
                          key->values, node->text);
}

static void check_boolean(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    node->integer = strcmp(node->text, "true") == 0;
    if (!node->plain || (!node->integer && strcmp(node->text, "false") != 0))
        infc_spec_problem_expected(check, key, path, node);
}

static void check_text(infc_spec_check *check, const char *path, infc_yaml *node) {
    if (!*node->text)
        infc_spec_problem(check, node, path, "the text is empty; write one or remove the key");
}

static bool takes_more_than_scalars(infc_spec_type type) {
    return type == INFC_SPEC_labels || type == INFC_SPEC_target || type == INFC_SPEC_dim;
}

void infc_spec_check_value(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    if (node->kind != INFC_YAML_SCALAR && !takes_more_than_scalars(key->type)) {
        infc_spec_problem_expected(check, key, path, node);
        return;
    }
    switch (key->type) {
    case INFC_SPEC_integer: check_integer(check, key, path, node); break;
    case INFC_SPEC_number: check_number(check, key, path, node); break;
    case INFC_SPEC_size: check_amount(check, key, path, node, infc_spec_parse_size); break;
    case INFC_SPEC_choice: check_choice(check, key, path, node); break;
    case INFC_SPEC_dim: check_dim(check, key, path, node); break;
    case INFC_SPEC_duration: check_amount(check, key, path, node, infc_spec_parse_duration); break;
    case INFC_SPEC_boolean: check_boolean(check, key, path, node); break;
    case INFC_SPEC_path:
        node->parsed = infc_spec_path(check, node);
        /* fallthrough */
    case INFC_SPEC_string: check_text(check, path, node); break;
    case INFC_SPEC_model: infc_spec_check_model(check, path, node); break;
    case INFC_SPEC_name: infc_spec_check_name(check, path, node); break;
    case INFC_SPEC_license: infc_spec_check_license(check, path, node); break;
    case INFC_SPEC_labels: infc_spec_check_labels(check, key, path, node); break;
    case INFC_SPEC_regex: infc_spec_check_regex(check, path, node); break;
    case INFC_SPEC_target:
        if (node->kind == INFC_YAML_LIST) infc_spec_problem_expected(check, key, path, node);
        else check_target(check, node);
        break;
    case INFC_SPEC_map:
    case INFC_SPEC_names: /* spec_check.c walks these */
    case INFC_SPEC_any:   /* no implemented key has these types */
        node->bad = true;
        infc_fail(check->cx, INFC_ERR_INTERNAL, node->loc, "%s: no check for this type of key", path);
        break;
    }
}
