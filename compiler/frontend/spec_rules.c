/* precision.rules: PCRE2 over weight names, with limits, since both pattern and names come from others. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "spec.h"
#include "spec_check.h"
#include <pcre2.h>
#include <string.h>

enum { MATCH_LIMIT = 100000, DEPTH_LIMIT = 1000, HEAP_LIMIT_KIB = 4096, MAX_PATTERN = 4096 };

static void free_code(void *handle) { pcre2_code_free(*(pcre2_code **)handle); }

const void *infc_spec_pattern(infc_arena *arena, const char *text, const char **why, size_t *at) {
    enum { MAX_WHY = 256 };
    int error;
    pcre2_code **kept = INFC_NEW(arena, pcre2_code *, 1);
    infc_arena_defer(arena, free_code, kept); /* before there is something to lose */
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
    *kept = pcre2_compile((PCRE2_SPTR)text, strlen(text), options, &error, at, NULL);
    if (*kept) return *kept;
    PCRE2_UCHAR *message = INFC_NEW(arena, PCRE2_UCHAR, MAX_WHY);
    pcre2_get_error_message(error, message, MAX_WHY);
    *why = (const char *)message;
    ++*at;
    return NULL;
}

void infc_spec_check_regex(infc_spec_check *check, const char *path, infc_yaml *node) {
    const char *why;
    size_t at, n = strlen(node->text);
    if (n == 0 || n > MAX_PATTERN) {
        infc_spec_problem(check, node, path, "a regular expression has 1 to %d characters", MAX_PATTERN);
        return;
    }
    node->parsed = infc_spec_pattern(check->cx->arena, node->text, &why, &at);
    if (!node->parsed)
        infc_spec_problem(check, node, path, "%s is no regular expression: %s, at character %zu",
                          infc_yaml_quote(check->cx, node->text), why, at);
}

static int match(const infc_spec_rule *rule, const char *name) {
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int result = PCRE2_ERROR_NOMEMORY;
    if (limits && data) {
        pcre2_set_match_limit(limits, MATCH_LIMIT);
        pcre2_set_depth_limit(limits, DEPTH_LIMIT);
        pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
        result = pcre2_match(rule->code, (PCRE2_SPTR)name, strlen(name), 0, 0, data, limits);
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    return result;
}

infc_status infc_spec_weight_format(infc_cx *cx, const infc_spec *spec, const char *name,
                                    bool *matched, infc_spec_format *out) {
    bool text = infc_text_is_utf8(name, strlen(name)); /* what is not can match no rule */
    const infc_spec_rule *first = NULL;
    for (size_t i = 0; i < spec->n_rules && text; i++) {
        int result = match(&spec->rules[i], name);
        if (result == PCRE2_ERROR_NOMATCH) continue;
        if (result < 0)
            return infc_fail(cx, INFC_ERR_SPEC, spec->rules[i].loc,
                             "precision.rules.match: matching %s takes too long; "
                             "simplify the expression",
                             infc_yaml_quote(cx, name));
        matched[i] = true;
        if (!first) first = &spec->rules[i];
    }
    *out = first ? first->weights : spec->weights;
    return INFC_OK;
}
