/* Names that end up in C text, files and licence lines. */
#include "../base/c_names.h"
#include "spec_check.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_LENGTH = 48 };

/* What generated code begins its own names with; NAME_ stands before the rest. */
static const char *prefix_fault(const char *name) {
    static const char *const prefixes[] = {"infc", "infrt", "infk"};
    static const char *const vocabulary[] = {"in", "out", "s", "t", "v", "vf16x", "w"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncasecmp(name, prefixes[i], length) == 0 && (name[length] == '_' || !name[length]))
            return "names of infc's own symbols begin like this";
    }
    for (size_t i = 0; i < sizeof vocabulary / sizeof *vocabulary; i++)
        if (strcmp(name, vocabulary[i]) == 0) return "names in generated code begin like this";
    return NULL;
}

/* Null when the name can be used. */
static const char *name_fault(const char *name) {
    size_t n = strlen(name);
    if (n == 0 || n > NAME_MAX_LENGTH)
        return "a name has 1 to 48 characters of A-Z, a-z, 0-9 and _";
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c >= 0x80 || !(isalnum(c) || c == '_'))
            return "not a C identifier (letters, digits and _)";
    }
    if (isdigit((unsigned char)*name)) return "not a C identifier: it begins with a digit";
    if (*name == '_') return "names that begin with _ are reserved in C";
    if (infc_c_keyword(name)) return "a keyword of C or C++";
    if (infc_c_header(name)) return "its header or program would hide one of the system's headers";
    if (infc_c_library(name)) return "its library would hide one of the system's";
    if (infc_cmake_word(name)) return "CMake has a target or project of this name";
    if (strcmp(name, "main") == 0 || strcmp(name, "src") == 0)
        return "this name is taken in the output";
    return prefix_fault(name);
}

const char *infc_spec_name_from(infc_arena *arena, const char *text, const char **out_why) {
    char name[NAME_MAX_LENGTH + 1];
    size_t n = 0, cut = NAME_MAX_LENGTH - strlen("model_");
    for (const unsigned char *p = (const unsigned char *)text; *p && n < cut; p++) {
        bool good = *p < 0x80 && isalnum(*p);
        if (good) name[n++] = (char)*p;
        else if (n > 0 && name[n - 1] != '_') name[n++] = '_';
    }
    while (n > 0 && name[n - 1] == '_') n--;
    name[n] = '\0';
    *out_why = n == 0 && *text ? "no letter or digit of ASCII is in it" : name_fault(name);
    if (!*out_why) return infc_arena_copy_string(arena, name, n);
    return infc_arena_printf(arena, n ? "model_%s" : "model%s", name);
}

void infc_spec_check_name(infc_spec_check *check, const char *path, infc_yaml *node) {
    const char *fault = name_fault(node->text), *why;
    if (!fault) return;
    infc_spec_problem(check, node, path, "%s cannot be the name: %s; try %s",
                      infc_yaml_quote(check->cx, node->text), fault,
                      infc_spec_name_from(check->cx->arena, node->text, &why));
}

/* The token at p is an identifier, an operator or a parenthesis; its length, 0 at a character that is none. */
static size_t license_token(const char *p) {
    if (*p == '(' || *p == ')') return 1;
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '.' || p[n] == '-') n++;
    if (n > 0 && p[n] == '+') n++;
    return n;
}

static bool license_valid(const char *text) {
    bool operand = true; /* expected next */
    int depth = 0;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        size_t n = license_token(p);
        bool joins = (n == 2 && !memcmp(p, "OR", 2)) || (n == 3 && !memcmp(p, "AND", 3)) ||
                     (n == 4 && !memcmp(p, "WITH", 4));
        if (n == 0) return false;
        if (*p == '(' ? !operand : *p == ')' ? operand || depth == 0 : joins == operand)
            return false;
        if (*p == '(') depth++;
        else if (*p == ')') depth--;
        else operand = joins;
        p += n;
    }
    return !operand && depth == 0 && strlen(text) <= 200;
}

void infc_spec_check_license(infc_spec_check *check, const char *path, infc_yaml *node) {
    if (license_valid(node->text)) return;
    infc_spec_problem(check, node, path,
                      "%s is not an SPDX licence expression; write one such as MIT, Apache-2.0 or "
                      "LicenseRef-Proprietary",
                      infc_yaml_quote(check->cx, node->text));
}
